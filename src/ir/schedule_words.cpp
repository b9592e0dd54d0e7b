#include "ir/schedule_words.h"

#include <algorithm>

#include "base/text.h"

namespace mtmc {
namespace {

std::vector<std::string> spellings(const ScheduleWord& word) {
  if (word.values.empty()) return {std::string(word.key)};
  std::vector<std::string> texts;
  for (std::string_view value : word.values) texts.push_back(choice_text(word.key, value));
  return texts;
}

}  // namespace

std::span<const ScheduleWord> schedule_words() {
  static const std::vector<ScheduleWord> kWords = {
      {"tiled", {}, "tile", "loops run over blocks of the data that fit registers and caches"},
      {"pipelined", {}, "pipeline", "reductions have several accumulators, and data is loaded ahead of its use"},
      {"split",
       {},
       "split",
       "a reduction, or a product's sum over K, runs as chunks side by side, whose results are combined at the end"},
      {"order", {"reversed"}, "reorder", "the loops over tiles are nested the other way round"},
      {"window",
       {"im2win"},
       "reorder",
       "a convolution reads the last axis of its windows and the channels as one run of memory"},
      {"precision",
       {"half", "as_eager", "two_part", "ieee"},
       "precision",
       "how a product takes f32 operands: rounded to f16, each product as exactly as eager, each as the sum of two f16 "
       "numbers, or as they are"}};
  return kWords;
}

std::string choice_text(std::string_view key, std::string_view value) {
  return std::string(key) + (value.empty() ? "" : ":" + std::string(value));
}

Status check_choice(std::string_view kernel, std::string_view key, std::string_view value) {
  std::vector<std::string> known;
  for (const ScheduleWord& word : schedule_words()) {
    const std::vector<std::string> texts = spellings(word);
    if (std::find(texts.begin(), texts.end(), choice_text(key, value)) != texts.end()) return ok_status();
    if (word.key == key) known.clear();
    known.insert(known.end(), texts.begin(), texts.end());
    if (word.key == key) break;
  }
  return Error{"verifying a program", "an unknown word in the schedule of " + std::string(kernel),
               choice_text(key, value), join(known, ", ")};
}

}  // namespace mtmc
