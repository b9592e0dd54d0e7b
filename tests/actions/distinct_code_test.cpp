// What is listed on a target changes what the target prints: the search spends no measurement on the same code again.
#include <gtest/gtest.h>

#include <filesystem>

#include "actions/action.h"
#include "base/file.h"
#include "base/rng.h"
#include "support/source_dir.h"

namespace mtmc {
namespace {

ModuleShell shell_of(const Program& program) {
  ModuleShell shell;
  shell.constructor_source = "class ModelNew:\n    # mtmc: forward\n";
  for (const Value& value : program.values)
    if (value.kind == ValueKind::input) shell.arguments.push_back(value.name);
  return shell;
}

// Lists the actions of a few Programs in a row, and returns those after which the text is the same.
std::vector<std::string> without_effect(Program program, const ActionContext& context, uint64_t seed, int* listed) {
  const auto text = [&](const Program& one) { return context.target.emit(one, context.hardware, shell_of(one))->text; };
  std::vector<std::string> found;
  Rng rng(seed);
  for (int step = 0; step < 4; ++step) {
    const std::string before = text(program);
    std::vector<Action> actions = enumerate_actions(program, context);
    actions.pop_back();  // stop
    if (actions.empty()) break;
    for (const Action& action : actions) {
      const Program after = apply_action(program, action, context).value();
      if (text(after) == before) found.push_back(store_text(action) + "\n" + print(program));
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
