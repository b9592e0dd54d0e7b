// What another GPU changes of a Triton kernel: how many programs keep it busy, and what fits on one of its
// multiprocessors. An A100 has 108 of them with 163 KB of shared memory each, an H100 132 with 227 KB.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "targets/case_maker.h"
#include "targets/target.h"
#include "targets/triton/kernel_printer.h"

namespace mtmc {
namespace {

using testing::Maker;

const Hardware& on(const char* name) {
  static std::map<std::string, Hardware> known;
  const auto at = known.find(name);
  return at != known.end() ? at->second : known.emplace(name, hardware_profile(name).value()).first->second;
}

std::string printed(const Program& program, const char* gpu) {
  return print_triton_kernel(program, program.kernels[0], on(gpu)).value().text;
}

std::vector<Numbers> candidates(const Program& program, const char* gpu) {
  return triton_candidates(program, program.kernels[0], on(gpu));
}

Program product(const char* left, const char* right, std::map<std::string, std::string> choices) {
  Maker m("product");
  Program program = m.kernel_of({m.op("matmul", {m.in(left), m.in(right)})}, std::move(choices));
  program.kernels[0].family = Family::contraction;
  return program;
}

// 60 tiles of 128 x 128 are less than half of 132, and more than half of 108.
TEST(TritonHardware, ProductsAreSplitWhereTheirTilesLeaveMostOfTheGpuIdle) {
  const Program program = product("f16[768,4096]", "f16[4096,1280]", {{"split", ""}});
  EXPECT_NE(printed(program, "h100").find("_partial"), std::string::npos);
  EXPECT_EQ(printed(program, "a100").find("_partial"), std::string::npos);
  const TargetDef& triton = *find_target("triton");
  const Program whole = product("f16[768,4096]", "f16[4096,1280]", {});
  EXPECT_TRUE(triton.distinguishes(whole, {"split", ""}, on("h100")));
  EXPECT_FALSE(triton.distinguishes(whole, {"split", ""}, on("a100")));
}

// 110 of the largest tiles keep an A100 busy, and not an H100.
TEST(TritonHardware, TilesAreAsLargeAsKeepsTheGpuBusy) {
  const Program program = product("f16[1280,512]", "f16[512,2816]", {});
  EXPECT_EQ(candidates(program, "h100").front().at("n"), 128);
  EXPECT_EQ(candidates(program, "a100").front().at("n"), 256);
}

// 240 programs of 1024 lanes are two for each multiprocessor of an A100.
TEST(TritonHardware, RowsAreSharedOutToTwoProgramsForEachMultiprocessor) {
  Maker m("scaled");
  const Program program = m.kernel_of({m.op("relu", {m.in("f32[245760]")})});
  EXPECT_EQ(candidates(program, "h100").front().at("rows"), 512);
  EXPECT_EQ(candidates(program, "a100").front().at("rows"), 1024);
}

int64_t deepest(const Program& program, const char* gpu) {
  int64_t most = 0;
  for (const Numbers& numbers : candidates(program, gpu)) most = std::max(most, numbers.at("stages"));
  return most;
}

// A step of 128 x 256 x 64 loads 48 KB.
TEST(TritonHardware, PipelinesAreAsDeepAsSharedMemory) {
  const Program program = product("f16[8192,4096]", "f16[4096,8192]", {{"pipelined", ""}});
  EXPECT_EQ(deepest(program, "h100"), 4);
  EXPECT_EQ(deepest(program, "a100"), 3) << "the best guess, which is printed with as many as fit";
  Hardware unknown = on("h100");
  unknown.shared_bytes = 0;
  EXPECT_TRUE(print_triton_kernel(program, program.kernels[0], unknown).ok()) << "then it has what every GPU has";
}

// The 128 slices of four layers are resident on an H100 at once; on an A100 64 wider ones are.
TEST(TritonHardware, RecurrencesHaveAsManyProgramsAsAreResident) {
  Maker m("lstm");
  const ValueId state = m.in("f32[4,3,256]");
  std::vector<ValueId> inputs = {m.in("f32[7,3,256]"), state, state};
  for (int i = 0; i < 8; ++i) inputs.push_back(m.in("f32[1024,256]"));  // weights of the input and of the state
  const Attrs attrs = {
      {"has_biases", false}, {"num_layers", int64_t{4}}, {"bidirectional", false}, {"batch_first", false}};
  Program program = m.kernel_of({m.op("lstm", inputs, attrs)});
  program.kernels[0].family = Family::recurrent;
  EXPECT_NE(printed(program, "h100").find("_kernel[(128,)]"), std::string::npos);
  EXPECT_NE(printed(program, "a100").find("_kernel[(64,)]"), std::string::npos);
}

}  // namespace
}  // namespace mtmc
