// What each target prints for a kernel of each family: a program, and below it the text of its kernel and the calls
// that launch it. A file per family in tests/targets/golden; the numbers are compared elsewhere, by tests that run
// kernels.
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/text.h"
#include "ops/op.h"
#include "support/golden.h"
#include "targets/frame.h"
#include "targets/target.h"

namespace mtmc {
namespace {

constexpr Family kFamilies[] = {Family::pointwise, Family::reduction, Family::contraction, Family::window,
                                Family::scan,      Family::movement,  Family::attention,   Family::recurrent};
constexpr const char* kTargets[] = {"cpu", "triton"};

// The lines of the kernels, and forward; what surrounds them is the same in every module.
std::string printed(const Program& program, const char* target) {
  ModuleShell shell;
  shell.constructor_source = "class ModelNew:\n    # mtmc: forward\n";
  for (const Value& value : program.values)
    if (value.kind == ValueKind::input) shell.arguments.push_back(value.name);
  const TargetDef& def = *find_target(target);
  const Hardware hardware = def.device == Device::cuda ? h200_hardware() : null_hardware();
  const auto code = def.emit(program, hardware, shell);
  if (!code.ok()) return "refused: " + code.error().message() + "\n";
  const auto lines = split(code->text, '\n');
  std::string text;
  for (const auto& [name, range] : code->kernels)
    for (int i = range.first; i <= range.last; ++i) text += lines[static_cast<size_t>(i - 1)] + "\n";
  return text + code->text.substr(code->text.find("    def forward("));
}

// The programs of a golden file, each the lines above its first answer.
std::vector<std::string> sources(const std::string& golden) {
  std::vector<std::string> found = {""};
  bool answered = false;
  for (const std::string& line : split(golden, '\n')) {
    if (line == "====") {
      answered = false, found.emplace_back();
      continue;
    }
    answered = answered || line.starts_with(">>> ");
    if (!answered) found.back() += line + "\n";
  }
  return found;
}

class Emitted : public ::testing::TestWithParam<Family> {};
INSTANTIATE_TEST_SUITE_P(EveryFamily, Emitted, ::testing::ValuesIn(kFamilies),
                         [](const auto& family) { return std::string(name(family.param)); });

TEST_P(Emitted, OnEveryTarget) {
  const std::string file = "targets/golden/" + std::string(name(GetParam())) + ".t";
  const auto golden = read_file(source_dir() + "/tests/" + file);
  ASSERT_TRUE(golden.ok()) << golden.error().message();
  std::string text;
  for (const std::string& source : sources(*golden)) {
    const auto program = parse_program(source);
    ASSERT_TRUE(program.ok()) << file << ": " << program.error().message();
    ASSERT_TRUE(verify(*program).ok() && verify_types(*program).ok()) << source;
    EXPECT_EQ(program->kernels[0].family, GetParam());
    text += (text.empty() ? "" : "====\n") + print(*program);
    for (const char* target : kTargets) text += std::string(">>> ") + target + "\n" + printed(*program, target);
  }
  expect_golden(file, text);
}

}  // namespace
}  // namespace mtmc
