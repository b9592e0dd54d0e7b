// On code that the builtin coder prints, the regions found in its text are those of the Program.
#include "source/regions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "actions/action.h"
#include "actions/flow.h"
#include "actions/schedule.h"
#include "base/file.h"
#include "base/text.h"
#include "support/source_dir.h"
#include "targets/import_time.h"

namespace mtmc {
namespace {

struct Printed {
  Program program;
  Code code;
  std::vector<SourceRegion> regions;
};

Printed printed(const Program& program, const TargetDef& target) {
  ModuleShell shell;
  shell.constructor_source = "class ModelNew:\n    # mtmc: forward\n";
  for (const Value& value : program.values)
    if (value.kind == ValueKind::input) shell.arguments.push_back(value.name);
  const auto code = target.emit(program, Hardware{}, shell);
  MTMC_CHECK(code.ok(), code.error().message());
  return {program, *code, regions_of(code->text, Language::python, 100000).value()};
}

std::vector<Program> examples() {
  std::vector<Program> programs;
  for (const auto& file : std::filesystem::directory_iterator(source_dir() + "/examples")) {
    const auto text = read_file(source_dir() + "/tests/frontend/golden/" + file.path().stem().string() + ".t");
    if (text.ok()) programs.push_back(parse_program(*text).value());
  }
  return programs;
}

bool made_before(const Program& program, const Kernel& kernel) {
  return runs_at_import(kernel, made_at_import(program));
}

// Kernels that read one another with none between them, by position.
std::set<std::pair<int, int>> neighbours(const Program& program, bool convex) {
  const KernelFlow flow(program);
  std::set<std::pair<int, int>> found;
  for (int k = 0; k < static_cast<int>(program.kernels.size()); ++k) {
    if (flow.is_view(k) || made_before(program, program.kernels[k])) continue;
    for (int next : flow.consumers(k))
      if (!convex || flow.is_convex({k, next})) found.emplace(k, next);
  }
  return found;
}

using Lines = std::set<std::pair<int, int>>;

// Several, where kernels that are alike share their functions.
std::vector<int> kernels_at(const Printed& one, LineRange lines) {
  std::vector<int> found;
  for (size_t k = 0; k < one.program.kernels.size(); ++k) {
    const auto at = one.code.kernels.find(one.program.kernels[k].name);
    if (at != one.code.kernels.end() && at->second.first <= lines.first && lines.last <= at->second.last)
      found.push_back(static_cast<int>(k));
  }
  return found;
}

// Statements that launch something: calls of torch as the Program has them, our own kernels' as the targets spell them.
Lines launches_of(const Printed& one) {
  Lines found;
  const KernelFlow flow(one.program);
  for (int k = 0; k < static_cast<int>(one.program.kernels.size()); ++k) {
    const Kernel& kernel = one.program.kernels[k];
    if (kernel.family != Family::library || flow.is_view(k) || made_before(one.program, kernel)) continue;
    const LineRange lines = one.code.kernels.at(kernel.name);
    found.emplace(lines.first, lines.last);
  }
  const std::vector<std::string> text = split(one.code.text, '\n');
  for (int line = 1; line <= static_cast<int>(text.size()); ++line)
    for (const char* launch : {"_launch(", "_library."})  // "_library.k0_relu.argtypes = ..." launches nothing
      if (trim(text[line - 1]).starts_with(launch) && text[line - 1].find(" = ") == std::string::npos)
        found.emplace(line, line);
  return found;
}

// One region has exactly the launches, where there are several.
void expect_captured(const Printed& one, const std::string& what) {
  const Lines launches = launches_of(one);
  Lines found;
  size_t regions = 0;
  for (const SourceRegion& region : one.regions) {
    if (region.action != "capture") continue;
    ++regions;
    for (const LineRange& lines : region.lines) found.emplace(lines.first, lines.last);
  }
  EXPECT_EQ(found, launches.size() > 1 ? launches : Lines{}) << what << "\n" << one.code.text;
  EXPECT_EQ(regions, launches.size() > 1 ? 1u : 0u) << what << "\n" << one.code.text;
}

// Does a kernel call the function whose name the region's label ends with?
bool is_of_helper(const Printed& one, const SourceRegion& region) {
  const std::string name = region.label.substr(region.label.rfind(' ') + 1) + "(";
  const std::vector<std::string> text = split(one.code.text, '\n');
  for (const Kernel& kernel : one.program.kernels) {
    const auto at = one.code.kernels.find(kernel.name);
    if (kernel.family == Family::library || at == one.code.kernels.end()) continue;
    for (int line = at->second.first; line <= at->second.last; ++line)
      if (trim(text[line - 1]).starts_with(name)) return true;
  }
  return false;
}

// Each kernel of our own can be tiled, and nothing but kernels and what they call has loops. How many regions are about
// loops.
size_t expect_loops_in_kernels(const Printed& one, const std::string& what) {
  std::set<int> tiled;
  size_t loops = 0;
  for (const SourceRegion& region : one.regions) {
    if (region.action != "tile" && region.action != "pipeline" && region.action != "reorder") continue;
    ++loops;
    const std::vector<int> kernels = kernels_at(one, region.span());
    EXPECT_TRUE(!kernels.empty() || is_of_helper(one, region)) << region.text() << " in " << what;
    for (const int k : kernels) EXPECT_NE(one.program.kernels[k].family, Family::library) << region.text() << what;
    if (region.action == "tile") tiled.insert(kernels.begin(), kernels.end());
  }
  for (size_t k = 0; k < one.program.kernels.size(); ++k) {
    const Kernel& kernel = one.program.kernels[k];
    const bool ours = kernel.family != Family::library && one.code.kernels.contains(kernel.name);
    EXPECT_EQ(tiled.contains(static_cast<int>(k)), ours) << kernel.name << " in " << what;
  }
  return loops;
}

class Agreement : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_parse()) GTEST_SKIP() << "built without tree-sitter (tools/fetch_deps tree-sitter)";
  }
};

// How many calls there are.
size_t expect_the_same(const Printed& one, const std::string& what) {
  const auto lines_of = [&](int kernel) { return one.code.kernels.at(one.program.kernels[kernel].name); };
  std::set<std::pair<int, int>> wanted, found, calls, lowered;
  for (const auto& [k, next] : neighbours(one.program, true)) wanted.emplace(lines_of(k).first, lines_of(next).first);
  const KernelFlow flow(one.program);
  for (int k = 0; k < static_cast<int>(one.program.kernels.size()); ++k)
    if (!flow.is_view(k) && !made_before(one.program, one.program.kernels[k]))
      calls.emplace(lines_of(k).first, lines_of(k).last);
  for (const SourceRegion& region : one.regions) {
    if (region.action == "fuse") {
      EXPECT_EQ(region.lines.size(), 2u) << what << ": " << region.text();
      if (region.lines.size() != 2) continue;
      found.emplace(region.lines[0].first, region.lines[1].first);
      EXPECT_EQ(region.lines[0].first, region.lines[0].last) << what;
    }
    if (region.action == "lower") lowered.emplace(region.span().first, region.span().last);
  }
  EXPECT_EQ(found, wanted) << what << "\n" << one.code.text;
  EXPECT_EQ(lowered, calls) << what << "\n" << one.code.text;
  expect_captured(one, what);
  return calls.size();
}

// Every call of torch is a region of `lower`, and the pairs for `fuse` are exactly those that read one another with
// nothing between them.
TEST_F(Agreement, OfTheUntouchedExamples) {
  const std::vector<Program> programs = examples();
  ASSERT_GE(programs.size(), 12u);
  for (const char* target : {"triton", "cpu"})
    for (const Program& program : programs)
      EXPECT_GT(expect_the_same(printed(program, *find_target(target)), program.name + " for " + target), 0u);
}

// A graph of the whole call, which is launched from a method of its own.
TEST_F(Agreement, OfCapturedExamples) {
  const TargetDef& target = *find_target("triton");
  const Hardware hardware;
  size_t captured = 0;
  for (const Program& program : examples())
    for (const Action& action : find_action("capture")->enumerate(program, {hardware, target})) {
      const auto next = find_action("capture")->apply(program, action, {hardware, target});
      ASSERT_TRUE(next.ok()) << next.error().message();
      const Printed one = printed(*next, target);
      captured += one.code.text.find("def _run(") != std::string::npos;
      expect_the_same(one, "captured " + program.name);
    }
  EXPECT_GT(captured, 8u);
}

// What `mtmc apply` would show for two kernels that read one another has the same lines as a region.
TEST_F(Agreement, OfActionsAsTheyAreShown) {
  const Hardware hardware;
  size_t compared = 0;
  for (const char* name : {"triton", "cpu"})
    for (const Program& program : examples()) {
      const TargetDef& target = *find_target(name);
      const Printed one = printed(program, target);
      std::set<std::string> shown;
      for (const SourceRegion& region : one.regions) {
        shown.insert(region.action + " in " + to_string(region.span()));
        const Action action{region.action, {}, region.word()};  // as an action of code without a Program
        EXPECT_EQ(parse_action(store_text(action)).value(), action) << region.text();
      }
      std::set<std::vector<ValueId>> pairs;
      for (const auto& [k, next] : neighbours(program, true)) {
        std::vector<ValueId> values = program.kernels[k].values;
        values.insert(values.end(), program.kernels[next].values.begin(), program.kernels[next].values.end());
        std::sort(values.begin(), values.end());
        pairs.insert(values);
      }
      for (const Action& action : enumerate_actions(program, {hardware, target})) {
        if (action.type != "lower" && action.type != "fuse") continue;
        for (const std::vector<ValueId>& region : action.regions) {
          if (action.type == "fuse" && !pairs.contains(region)) continue;
          const std::string text = render({action.type, {region}, ""}, program, one.code);
          EXPECT_TRUE(shown.contains(action.type + text.substr(text.rfind(" in line"))))
              << program.name << ": " << text;
          ++compared;
        }
      }
    }
  EXPECT_GT(compared, 200u);
}

Program lowered(Program program, const TargetDef& target) {
  const Hardware hardware;
  for (bool found = true; found;) {
    found = false;
    for (const Action& action : find_action("lower")->enumerate(program, {hardware, target})) {
      auto next = find_action("lower")->apply(program, action, {hardware, target});
      if (!next.ok()) continue;
      program = std::move(*next), found = true;
      break;
    }
  }
  return program;
}

// With kernels of our own, which may be several launches each: there is a region between two kernels that read one
// another with nothing between them, and none between kernels that do not. Loops are where kernels are, each kernel can
// be tiled, and all launches can be captured.
TEST_F(Agreement, OfGeneratedKernels) {
  size_t kernels = 0, loops = 0;
  for (const char* name : {"triton", "cpu"})
    for (const Program& untouched : examples()) {
      const TargetDef& target = *find_target(name);
      const Printed one = printed(lowered(untouched, target), target);
      const std::string what = untouched.name + " for " + name + "\n" + one.code.text;
      loops += expect_loops_in_kernels(one, what);
      expect_captured(one, what);
      const auto wanted = neighbours(one.program, true), allowed = neighbours(one.program, false);
      std::set<std::pair<int, int>> found;
      for (const SourceRegion& region : one.regions) {
        if (region.action != "fuse" || region.lines.size() != 2) continue;
        bool is_allowed = false;
        for (const int a : kernels_at(one, region.lines[0]))
          for (const int b : kernels_at(one, region.lines[1])) {
            const std::pair pair(std::min(a, b), std::max(a, b));
            is_allowed |= a == b || allowed.contains(pair);
            found.insert(pair);
          }
        EXPECT_TRUE(is_allowed) << region.text() << " in " << what;
      }
      const auto lines_of = [&](int k) { return one.code.kernels.at(one.program.kernels[k].name); };
      for (const auto& [a, b] : wanted) {
        const bool one_function = lines_of(a).first == lines_of(b).first;  // twice: there are no two places
        EXPECT_TRUE(found.contains({a, b}) || one_function) << a << " " << b << " in " << what;
      }
      kernels += wanted.size();
    }
  EXPECT_GT(kernels, 60u);
  EXPECT_GT(loops, 100u);
}

// Every operator's call, as it is spelled for torch.
TEST_F(Agreement, OfEveryOperator) {
  size_t calls = 0;
  const std::string text = read_file(source_dir() + "/tests/ops/golden/operators.t").value();
  for (size_t at = 0; at < text.size();) {
    const size_t next = std::min(text.find("\nprogram ", at), text.size() - 1) + 1;
    Program program = parse_program(text.substr(at, next - at)).value();
    for (Kernel& kernel : program.kernels) kernel.family = Family::library;
    at = next;
    calls += expect_the_same(printed(program, *find_target("triton")), program.name);
  }
  EXPECT_GT(calls, 400u);
}

}  // namespace
}  // namespace mtmc
