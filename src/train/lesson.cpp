#include "train/lesson.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/parallel.h"

namespace mtmc::train {

namespace {
constexpr int64_t kForAction = 96;  // tokens that are left for the action behind a prompt
// Characters for each token of a context: a text of so many holds more tokens in all likelihood, which its beginning
// then shows. Where that is cut one token more may come of it, or some fewer.
constexpr size_t kLongPart = 8, kCut = 16;
}  // namespace

Reader::Reader(const Tokenizer& tokenizer, const ModelConfig& config, int64_t context, const lm::Prior& prior)
    : tokenizer_(tokenizer), config_(config), prior_(prior) {
  options_.context =
      static_cast<size_t>(std::min(context, config.context - std::min<int64_t>(config.context / 2, kForAction)));
  const auto count = [this](std::string_view text) {
    const auto tokens = tokenizer_.encode(text, false);
    return tokens.ok() ? tokens->size() : quarter_of_characters(text);
  };
  options_.count = [this, count](std::string_view text) {
    if (const size_t part = kLongPart * options_.context; text.size() > part) {
      size_t end = part;
      while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // within a character
      if (const size_t tokens = count(text.substr(0, end)); tokens > options_.context + kCut) return tokens;
    }
    return count(text);
  };
}

Result<lm::Prompt> Reader::read(const Episode& episode) const {
  MTMC_TRY(const std::string text, episode.prompt(options_));
  MTMC_TRY(lm::Prompt prompt, lm::read_prompt(tokenizer_, config_, text, episode.actions()));
  lm::add_prior(prompt, episode.gains(), prior_);
  return prompt;
}

Result<std::vector<lm::Prompt>> Reader::read_all(const std::vector<const Episode*>& episodes) const {
  std::vector<std::optional<Result<lm::Prompt>>> read(episodes.size());
  in_parallel(episodes.size(), [&](size_t i) { read[i] = this->read(*episodes[i]); });
  std::vector<lm::Prompt> all;
  for (auto& one : read) {
    MTMC_TRY(lm::Prompt prompt, std::move(*one));
    all.push_back(std::move(prompt));
  }
  return all;
}

uint64_t seed_for(uint64_t seed, std::initializer_list<uint64_t> what) {
  for (const uint64_t part : what) seed = Rng(seed ^ Rng(part).next()).next();
  return seed;
}

std::vector<size_t> shuffled(size_t count, uint64_t seed) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  Rng rng(seed);
  for (size_t i = count; i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  return order;
}

size_t task_in_turn(const Lesson& lesson, uint64_t number) {
  const size_t count = lesson.tasks.size();
  return lesson.tasks[shuffled(count, seed_for(lesson.seed, {0, number / count}))[number % count]];
}

}  // namespace mtmc::train
