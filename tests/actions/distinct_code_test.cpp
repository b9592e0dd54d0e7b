// What is listed on a target changes what the target prints: the search spends no measurement on the same code again.
#include <gtest/gtest.h>

#include <filesystem>

#include "actions/action.h"
#include "actions/other_code.h"
#include "base/file.h"
#include "base/rng.h"
#include "support/source_dir.h"

namespace mtmc {
namespace {

// Lists the actions of a few Programs in a row, and returns those that cannot change what is printed.
std::vector<std::string> without_effect(Program program, const ActionContext& context, uint64_t seed, int* listed) {
  std::vector<std::string> found;
  Rng rng(seed);
  for (int step = 0; step < 4; ++step) {
    const std::string before = code_of(program, context);
    std::vector<Action> actions = enumerate_actions(program, context);
    actions.pop_back();  // stop
    if (actions.empty()) break;
    for (const Action& action : actions) {
      const Program after = apply_action(program, action, context).value();
      if (!can_print_other_code(before, after, context)) found.push_back(store_text(action) + "\n" + print(program));
      ++*listed;
    }
    program = apply_action(program, actions[rng.below(actions.size())], context).value();
  }
  return found;
}

TEST(DistinctCode, WhatIsListedChangesWhatIsPrinted) {
  int listed = 0;
  for (const char* name : {"cpu", "triton"}) {
    const TargetDef& target = *find_target(name);
    const Hardware hardware = target.device == Device::cuda ? h200_hardware() : null_hardware();
    for (const auto& file : std::filesystem::directory_iterator(source_dir() + "/examples")) {
      const auto text = read_file(source_dir() + "/tests/frontend/golden/" + file.path().stem().string() + ".t");
      if (!text.ok()) continue;
      for (const std::string& action : without_effect(parse_program(*text).value(), {hardware, target}, 7, &listed))
        ADD_FAILURE() << name << " prints the same code after " << action;
    }
  }
  EXPECT_GT(listed, 500);
}

}  // namespace
}  // namespace mtmc
