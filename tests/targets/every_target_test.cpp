// Every target on the traced programs: what it cannot print it refuses, what it prints is the same twice, and the lines
// that it says a kernel has are there.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "ir/schedule_words.h"
#include "support/source_dir.h"
#include "targets/case_maker.h"
#include "targets/target.h"

namespace mtmc {
namespace {

std::vector<Program> traced_examples() {
  std::vector<Program> programs;
  for (const auto& file : std::filesystem::directory_iterator(source_dir() + "/examples")) {
    const auto text = read_file(source_dir() + "/tests/frontend/golden/" + file.path().stem().string() + ".t");
    if (text.ok()) programs.push_back(parse_program(*text).value());
  }
  return programs;
}

void expect_lines(const Code& code, const LineRange& range, const std::string& what) {
  EXPECT_LE(1, range.first) << what;
  EXPECT_LE(range.first, range.last) << what;
  EXPECT_LE(range.last, std::count(code.text.begin(), code.text.end(), '\n') + 1) << what;
}

TEST(EveryTarget, SaysAllAboutItself) {
  std::set<std::string_view> words;
  for (const ScheduleWord& word : schedule_words()) words.insert(word.key);
  for (const TargetDef* target : all_targets()) {
    SCOPED_TRACE(std::string(target->name));
    EXPECT_FALSE(target->name.empty() || target->doc.empty());
    for (std::string_view word : target->words) EXPECT_TRUE(words.contains(word)) << word;
    ASSERT_TRUE(target->machine && target->cost && target->emit && target->supports);
    ASSERT_TRUE(target->candidates && target->initial_choices && target->precisions && target->distinguishes);
    EXPECT_TRUE(target->device != Device::none || target->rank == 0) << "what cannot run must be asked for";
  }
  EXPECT_EQ(choose_target("null")->machine.runs, false);
  EXPECT_EQ(choose_target("gpu").error().message().find("choosing a target: no target has this name: got gpu"), 0u);
}

TEST(EveryTarget, PrintsTheExamplesTheSameTwice) {
  const std::vector<Program> programs = traced_examples();
  ASSERT_GE(programs.size(), 12u);
  const Hardware hardware;
  for (const TargetDef* target : all_targets())
    for (const Program& program : programs) {
      const std::string what = std::string(target->name) + " " + program.name;
      ModuleShell shell;
      shell.constructor_source = "class ModelNew:\n    # mtmc: forward\n";
      for (const Value& value : program.values)
        if (value.kind == ValueKind::input) shell.arguments.push_back(value.name);
      const auto code = target->emit(program, hardware, shell);
      ASSERT_TRUE(code.ok()) << what << ": " << code.error().message();
      EXPECT_EQ(code->text, target->emit(program, hardware, shell)->text) << what;
      for (const auto& [name, range] : code->kernels) expect_lines(*code, range, what + " " + name);
      for (const auto& [id, range] : code->values) expect_lines(*code, range, what + " %" + std::to_string(id));
      for (const Kernel& kernel : program.kernels)
        for (const auto& numbers : target->candidates(program, kernel, hardware))
          for (const auto& [key, number] : numbers) EXPECT_GE(number, 1) << what << " " << kernel.name << " " << key;
    }
}

// The module's constants are where Python made them, and eager's factories were asked for the device of their time.
TEST(EveryTarget, WhatNoInputBringsAlongIsOnTheDevice) {
  const auto program = parse_program(
      "program made {\n  %0 = input \"x\" : f32[8]\n  %1 = constant \"table\" : f32[8]\n"
      "  %2 = arange(end=8) : i64[8]\n  %3 = add(%1, %2) : f32[8]\n  %4 = add(%0, %3) : f32[8]\n  return %4\n}\n"
      "kernel k0 = { %2 } library\nkernel k1 = { %3 } library\nkernel k2 = { %4 } library\n");
  ASSERT_TRUE(program.ok()) << program.error().message();
  ModuleShell shell;
  shell.constructor_source = "class ModelNew:\n    # mtmc: forward\n";
  shell.arguments = {"x"};
  for (const char* target : {"cpu", "triton"}) {
    const auto code = find_target(target)->emit(*program, Hardware{}, shell);
    ASSERT_TRUE(code.ok()) << code.error().message();
    EXPECT_NE(code->text.find("torch.arange(0, 8, 1, dtype=None, device=_DEVICE)"), std::string::npos) << code->text;
    EXPECT_NE(code->text.find("_on_device(self.table)"), std::string::npos) << code->text;
  }
}

// What a Program cannot hold, since its size depends on data, is computed in lines of its own and deleted behind them.
TEST(EveryTarget, PrintsTheLinesBeforeALibraryCall) {
  const std::string text =
      "program picked {\n  %0 = input \"x\" : f32[8]\n  %1 = input \"mask\" : b1[8]\n"
      "  %2 = library(%0, %1, args=\"{0}, [{1}], _s1\", before=\"_s0 = torch.ops.aten.index.Tensor({0}, [{1}])\\n"
      "_s1 = torch.ops.aten.exp.default(_s0); del _s0\\ndel _s1\", call=\"aten.index_put.default\", "
      "types=\"f32[8]\") : f32[8]\n  return %2\n}\nkernel k0 = { %2 } library\n";
  const auto program = parse_program(text);
  ASSERT_TRUE(program.ok()) << program.error().message();
  EXPECT_NE(print(*program).find("exp.default(_s0); del _s0\\ndel _s1\""), std::string::npos);
  ModuleShell shell;
  shell.constructor_source = "class ModelNew:\n    # mtmc: forward\n";
  shell.arguments = {"x", "mask"};
  for (const char* target : {"cpu", "triton"}) {
    const auto code = find_target(target)->emit(*program, Hardware{}, shell);
    ASSERT_TRUE(code.ok()) << code.error().message();
    EXPECT_NE(code->text.find("            _s0 = torch.ops.aten.index.Tensor(x, [mask])\n"
                              "            _s1 = torch.ops.aten.exp.default(_s0); del _s0\n"
                              "            v2 = torch.ops.aten.index_put.default(x, [mask], _s1); del _s1"),
              std::string::npos)
        << code->text;
  }
}

// As a tensor of the device a scalar is another call of torch's, and a slower one. Where torch takes none it stays one.
TEST(EveryTarget, CallsTorchWithTheNumbersThatTheModuleHas) {
  const auto program = parse_program(
      "program scaled {\n  %0 = input \"x\" : f32[8]\n  %1 = constant \"2\" : f32[]\n  %2 = constant \"0.5\" : f32[]\n"
      "  %3 = mul(%0, %1) : f32[8]\n  %4 = maximum(%3, %2) : f32[8]\n  %5 = rsub(%4, %1) : f32[8]\n"
      "  %6 = to(%0, dtype=bf16) : bf16[8]\n  %7 = add(%6, %2) : bf16[8]\n  return %5, %7\n}\n"
      "kernel k0 = { %3 %4 %5 %6 %7 } library\n");
  ASSERT_TRUE(program.ok()) << program.error().message();
  ModuleShell shell;
  shell.constructor_source = "class ModelNew:\n    # mtmc: forward\n";
  shell.arguments = {"x"};
  const auto code = find_target("triton")->emit(*program, h200_hardware(), shell);
  ASSERT_TRUE(code.ok()) << code.error().message();
  for (const char* call : {"torch.mul(x, 2.0)", "torch.maximum(v3, _c2)", "torch.sub(_c1, v4", "torch.add(v6, 0.5"})
    EXPECT_NE(code->text.find(call), std::string::npos) << call << "\n" << code->text;
}

// What a search would try next is printed ahead of its turn, and may not end it.
TEST(EveryTarget, AllCandidatesOfLargeTensorsCanBePrinted) {
  auto program = parse_program(
      "program pool {\n  %0 = input \"x\" : f32[16,32,128,128,256]\n"
      "  %1 = avg_pool3d(%0, kernel_size=[3,3,3], padding=[1,1,1], stride=[2,2,2]) : f32[16,32,64,64,128]\n"
      "  return %1\n}\nkernel k0 = { %1 } window\n");
  ASSERT_TRUE(program.ok()) << program.error().message();
  ASSERT_GT(program->values[0].type.elements(), INT32_MAX);
  program->kernels[0].choices["tiled"] = "";
  EXPECT_GT(find_target("triton")->candidates(*program, program->kernels[0], h200_hardware()).size(), 1u);
  ModuleShell shell;
  shell.constructor_source = "class ModelNew:\n    # mtmc: forward\n";
  shell.arguments = {"x"};
  for (const TargetDef* target : all_targets())
    for (const auto& numbers : target->candidates(*program, program->kernels[0], Hardware{})) {
      Program chosen = *program;
      chosen.kernels[0].numbers = numbers;
      const auto code = target->emit(chosen, Hardware{}, shell);
      EXPECT_TRUE(code.ok()) << target->name << ": " << code.error().message();
    }
}

// Within no_grad nothing would ask for gradients.
TEST(EveryTarget, WarnsAboutGradientsOutsideOfNoGrad) {
  testing::Maker m("relu");
  Program program = m.one_kernel({m.op("relu", {m.in("f32[4]")})}).program;
  program.kernels[0].family = Family::library;
  ModuleShell shell;
  shell.constructor_source = "class ModelNew:\n    # mtmc: forward\n";
  shell.arguments = {"x0"};
  for (const char* target : {"cpu", "triton"}) {
    const auto code = find_target(target)->emit(program, Hardware{}, shell);
    ASSERT_TRUE(code.ok()) << code.error().message();
    EXPECT_NE(code->text.find("\n        with torch.no_grad():\n"), std::string::npos) << code->text;
    EXPECT_NE(code->text.find("\n        _warn_about_gradients(self)\n"), std::string::npos) << code->text;
  }
}

}  // namespace
}  // namespace mtmc
