// Golden files of actions: a program, actions on it, and the program or the refusal that follows. See docs/ACTIONS.md.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "actions/action.h"
#include "actions/describe.h"
#include "actions/programs.h"
#include "actions/rewrite.h"
#include "base/file.h"
#include "base/rng.h"
#include "base/text.h"
#include "ops/op.h"
#include "support/golden.h"
#include "support/source_dir.h"

namespace mtmc {
namespace {

std::vector<std::vector<double>> leaves_of(const Program& program, uint64_t seed) {
  std::vector<std::vector<double>> leaves;
  Rng rng(seed);
  for (const Value& value : program.values) {
    if (value.kind == ValueKind::result) continue;
    leaves.emplace_back();
    if (literal(value)) continue;
    for (int64_t i = 0; i < value.type.elements(); ++i) {
      const double x = rng.uniform();
      leaves.back().push_back(value.type.dtype == DType::b1 ? x < 0.3 : value.name == "var" ? x + 0.1 : 2 * x - 1);
    }
  }
  return leaves;
}

// What the graph computes is what it computed, as far as doubles go.
void expect_same_function(const Program& before, const Program& after, const std::string& what) {
  const auto old_values = evaluate(before, leaves_of(before, 7));
  const auto new_values = evaluate(after, leaves_of(after, 7));
  ASSERT_TRUE(old_values.ok() && new_values.ok()) << what;
  for (size_t o = 0; o < old_values->size(); ++o)
    for (size_t i = 0; i < (*old_values)[o].size(); ++i) {
      const double a = (*old_values)[o][i], b = (*new_values)[o][i];
      ASSERT_NEAR(a, b, 1e-12 * (1 + std::abs(a))) << what << ": output " << o << " element " << i;
    }
}

std::string answer(const Program& start, const std::string& actions) {
  Program program = start;
  for (const std::string& text : split(actions, ';')) {
    const auto action = parse_action(trim(text));
    if (!action.ok()) return "refused: " + action.error().message() + "\n";
    const auto next = apply_action(program, *action, context());
    if (!next.ok()) return "refused: " + next.error().message() + "\n";
    program = *next;
  }
  EXPECT_TRUE(verify_types(program).ok()) << actions;
  expect_same_function(start, program, actions);
  return print(program);
}

// The text of a golden file with every answer computed anew.
std::string answers(const std::string& text, std::string* asked) {
  std::string result, source;
  Program start;
  bool in_answer = false;
  for (const std::string& line : split(text, '\n')) {
    if (line.rfind(">>> ", 0) == 0) {
      if (!source.empty()) {
        start = read_start(source);
        result += source;
        source.clear();
      }
      *asked += line.substr(4) + "\n";
      result += line + "\n" + answer(start, line.substr(4));
      in_answer = true;
    } else if (line == "====") {
      result += line + "\n";
      in_answer = false;
    } else if (!in_answer && !line.empty()) {
      source += line + "\n";
    }
  }
  return result;
}

TEST(Golden, EveryFileHolds) {
  const auto folder = std::filesystem::path(source_dir()) / "tests" / "actions" / "golden";
  std::set<std::string> types;
  std::string asked;
  for (const ActionDef* action : all_actions()) {
    const std::string file = std::string(action->name) + ".t";
    const auto text = read_file(folder / file);
    ASSERT_TRUE(text.ok()) << "no golden file of " << action->name;
    expect_golden("actions/golden/" + file, answers(*text, &asked));
  }
  for (const Rule* rule : all_rules())
    EXPECT_NE(asked.find("simplify:" + std::string(rule->name) + " "), std::string::npos)
        << "no case of " << rule->name;
}

// The programs of all golden files.
std::vector<Program> starts() {
  std::vector<Program> found;
  for (const ActionDef* action : all_actions())
    for (Program& program : programs_in("actions/golden/" + std::string(action->name) + ".t"))
      found.push_back(std::move(program));
  return found;
}

TEST(Golden, RandomSequencesKeepTheAnswer) {
  const std::vector<Program> programs = starts();
  ASSERT_GT(programs.size(), 15u);
  for (const Program& start : programs) {
    for (uint64_t seed = 0; seed < 2; ++seed) {
      Rng rng(seed);
      Program program = start;
      for (int step = 0; step < 12; ++step) {
        const auto actions = enumerate_actions(program, context());
        ASSERT_EQ(actions, enumerate_actions(program, context()));
        for (const Action& action : actions) {
          ASSERT_EQ(*parse_action(store_text(action)), action);
          const auto next = apply_action(program, action, context());
          ASSERT_TRUE(next.ok()) << "seed " << seed << " " << store_text(action) << ": " << next.error().message()
                                 << "\n"
                                 << print(program);
          const bool rewrites = next->rewrites.size() > program.rewrites.size();
          ASSERT_EQ(rewrites, find_action(action.type)->rewrites) << store_text(action);
          ASSERT_TRUE(verify_types(*next).ok()) << store_text(action);
          ASSERT_EQ(*parse_program(print(*next)), *next);
        }
        program = *apply_action(program, actions[rng.below(actions.size())], context());
      }
      expect_same_function(start, program, "seed " + std::to_string(seed) + " on " + start.name);
    }
  }
}

// Everything that is offered on traced modules can be applied and printed by the cpu target.
TEST(Golden, WhatIsOfferedOnTracedModulesPrints) {
  const auto folder = std::filesystem::path(source_dir()) / "tests/frontend/golden";
  const ActionContext cpu{kHardware, *find_target("cpu"), false};
  for (const auto& file : std::filesystem::directory_iterator(folder))
    for (const Program& start : programs_in("frontend/golden/" + file.path().filename().string())) {
      Rng rng(start.nodes.size());
      ModuleShell shell;
      shell.constructor_source = "class ModelNew:\n    # mtmc: forward\n";
      for (const Value& value : start.values)
        if (value.kind == ValueKind::input) shell.arguments.push_back(value.name);
      Program program = start;
      for (int step = 0; step < 6; ++step) {
        const auto actions = enumerate_actions(program, cpu);
        for (const Action& action : actions) {
          const auto next = apply_action(program, action, cpu);
          ASSERT_TRUE(next.ok()) << start.name << ": " << store_text(action) << ": " << next.error().message() << "\n"
                                 << print(program);
        }
        const Action& taken = actions[rng.below(actions.size())];
        program = *apply_action(program, taken, cpu);
        const auto code = cpu.target.emit(program, kHardware, shell);
        ASSERT_TRUE(code.ok()) << start.name << ": " << store_text(taken) << ": " << code.error().message();
      }
    }
}

TEST(Golden, ThePageIsThatOfTheTable) { expect_golden("../docs/ACTIONS.md", actions_markdown()); }

TEST(Golden, TheScheduleWordsAreThoseOfTheTable) {
  std::string page = read_file(source_dir() + "/docs/PROGRAM.md").value();
  const size_t begin = page.find("\n", page.find("<!-- from src/ir/schedule_words.cpp")) + 1;
  const size_t end = page.find("<!-- end of the words -->");
  ASSERT_TRUE(begin <= end && end != page.npos) << "the marks around the table";
  expect_golden("../docs/PROGRAM.md", page.replace(begin, end - begin, "\n" + schedule_words_markdown() + "\n"));
}

}  // namespace
}  // namespace mtmc
