// Norms of groups on the triton target: what reads a group's norm has the group as an axis (norm_groups.cpp), so that
// both are one launch; run by Triton's interpreter (or on the GPU) and compared with their definition in double.
#include <gtest/gtest.h>

#include <cmath>

#include "targets/case_maker.h"
#include "targets/triton/kernel_printer.h"
#include "targets/triton_runner.h"

namespace mtmc {
namespace {

using testing::Case;
using testing::expect_close;
using testing::Maker;

size_t launches(const Program& program) {
  return print_triton_kernel(program, program.kernels[0], h200_hardware()).value().calls.size();
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const double offset : {0.0, 64.0}) {
    Maker m("group_norm");
    const ValueId x = m.in("f32[5,24,6,7]"), by = m.in("f32[24]");
    const ValueId norm = m.op("group_norm", {x, by, by}, {{"num_groups", int64_t{6}}, {"eps", 1e-5}});
    all.push_back(m.one_kernel({m.op("silu", {norm})}));
    for (double& value : all.back().leaves[0]) value = std::round(value * 64) / 64 + offset;  // exact in f32
  }
  Maker heads("norm_of_heads");
  const ValueId cut = heads.op("reshape", {heads.in("f32[40,256]")}, {{"shape", std::vector<int64_t>{40, 4, 64}}});
  const ValueId norm =
      heads.op("rms_norm", {cut, heads.in("f32[64]")}, {{"normalized_shape", std::vector<int64_t>{64}}, {"eps", 1e-5}});
  const ValueId whole = heads.op("reshape", {norm}, {{"shape", std::vector<int64_t>{40, 256}}});
  all.push_back(heads.one_kernel({heads.op("mul", {whole, heads.in("f32[256]")})}));
  return all;
}

TEST(TorchTritonGroups, EqualTheirDefinition) {
  if (const std::string why = testing::triton_is_missing("cpu"); !why.empty()) GTEST_SKIP() << why;
  for (const Case& one : cases()) EXPECT_EQ(launches(one.program), 1U) << one.program.name;
  expect_close(cases(), 3e-6, "cpu");
}

TEST(GpuTritonGroups, EqualTheirDefinition) {
  if (const std::string why = testing::triton_is_missing("cuda"); !why.empty()) GTEST_SKIP() << why;
  expect_close(cases(), 3e-6, "cuda");
}

// A group that no program can hold is read again by many, and so are few.
TEST(TritonGroups, LongGroupsStayApart) {
  for (const auto& [shape, count] :
       {std::pair{"f32[8,640,32,32]", 1U}, {"f32[8,640,48,48]", 2U}, {"f32[2,640,32,32]", 2U}}) {
    const Program program = parse_program("program norm {\n  %0 = input \"x\" : " + std::string(shape) +
                                          "\n  %1 = group_norm(%0, none, none, num_groups=32, eps=1e-05) : " + shape +
                                          "\n  return %1\n}\nkernel k0 = { %1 } reduction\n")
                                .value();
    EXPECT_EQ(launches(program), count) << shape;
  }
}

}  // namespace
}  // namespace mtmc
