// The words of a kernel's schedule: declared here once, checked by `verify`, listed in docs/PROGRAM.md. Which of them
// make a difference is each target's to say.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mtmc {

struct ScheduleWord {
  std::string_view key;                  // "order"
  std::vector<std::string_view> values;  // what may follow behind a colon: "reversed"; empty: nothing does
  std::string_view set_by;               // the action type
  std::string_view doc;
};

std::span<const ScheduleWord> schedule_words();
// How a choice is written: "tiled", "order:reversed".
std::string choice_text(std::string_view key, std::string_view value);
// An Error says which word is unknown, and what could stand there.
Status check_choice(std::string_view kernel, std::string_view key, std::string_view value);

}  // namespace mtmc
