#include "train/lesson.h"

#include <algorithm>
#include <numeric>

namespace mtmc::train {

namespace {
constexpr int64_t kForAction = 96;  // tokens that are left for the action behind a prompt
}

Reader::Reader(const Tokenizer& tokenizer, const ModelConfig& config, int64_t context)
    : tokenizer_(tokenizer), config_(config) {
  options_.context =
      static_cast<size_t>(std::min(context, config.context - std::min<int64_t>(config.context / 2, kForAction)));
  options_.count = [this](std::string_view text) {
    const auto tokens = tokenizer_.encode(text, false);
    return tokens.ok() ? tokens->size() : quarter_of_characters(text);
  };
}

Result<lm::Prompt> Reader::read(const Episode& episode) const {
  MTMC_TRY(const std::string text, episode.prompt(options_));
  return lm::read_prompt(tokenizer_, config_, text, episode.actions());
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
