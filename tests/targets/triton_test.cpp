// Every operator as a kernel of its own on the triton target, run by Triton's interpreter (or on the GPU) and compared
// with its definition evaluated in double; and compiled for GPUs that are not here.
#include <gtest/gtest.h>

#include "ops/op.h"
#include "targets/recorded_programs.h"
#include "targets/target.h"
#include "targets/triton_runner.h"

namespace mtmc {
namespace {

struct Recorded {
  std::vector<Program> programs;
  std::vector<std::vector<std::vector<double>>> leaves;
};

// What the target can print, with the choices that its kernels begin with.
Recorded printable() {
  Recorded recorded;
  const TargetDef& triton = *find_target("triton");
  for (Program& program : testing::recorded_programs()) {
    const auto supported = triton.supports(program, program.kernels[0]);
    EXPECT_TRUE(supported.ok()) << print(program) << supported.error().message();
    if (!supported.ok()) continue;
    recorded.leaves.push_back(testing::random_leaves(program, recorded.leaves.size()));
    recorded.programs.push_back(std::move(program));
  }
  return recorded;
}

void expect_definitions(const std::string& device) {
  const Recorded recorded = printable();
  ASSERT_GT(recorded.programs.size(), 200u);
  const auto runs = testing::run_on_triton(recorded.programs, recorded.leaves, device);
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto wanted = evaluate(recorded.programs[i], recorded.leaves[i]);
    ASSERT_TRUE(wanted.ok()) << wanted.error().message();
    EXPECT_EQ(runs[i].failure, "") << print(recorded.programs[i]) << runs[i].text;
    for (size_t o = 0; o < runs[i].outputs.size(); ++o)
      EXPECT_EQ(testing::difference(runs[i].outputs[o], (*wanted)[o], 4e-6), "")
          << print(recorded.programs[i]) << runs[i].text;
  }
}

TEST(TorchTriton, EveryOperatorEqualsItsDefinition) {
  if (const std::string why = testing::triton_is_missing("cpu"); !why.empty()) GTEST_SKIP() << why;
  expect_definitions("cpu");
}

TEST(GpuTriton, EveryOperatorEqualsItsDefinition) {
  if (const std::string why = testing::triton_is_missing("cuda"); !why.empty()) GTEST_SKIP() << why;
  expect_definitions("cuda");
}

}  // namespace
}  // namespace mtmc
