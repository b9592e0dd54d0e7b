#include "targets/cpu/passes.h"

#include <gtest/gtest.h>

#include "ir/program.h"

namespace mtmc {
namespace {

Group group_of(const std::string& text) {
  const auto program = parse_program(text);
  EXPECT_TRUE(program.ok()) << program.error().message();
  auto group = build_group(*program, program->kernels[0]);
  EXPECT_TRUE(group.ok()) << group.error().message();
  return *group;
}

int stage_of(const Group& group, const std::string& tensor) {
  for (size_t s = 0; s < group.stages.size(); ++s)
    if (group.tensors[group.stages[s].dest].name == tensor) return static_cast<int>(s);
  ADD_FAILURE() << "no stage defines " << tensor;
  return 0;
}

const char* kSoftmax = R"(program t {
  %0 = input "x" : f32[8,64]
  %1 = softmax(%0, dim=-1) : f32[8,64]
  return %1
}
kernel k0 = { %1 } reduction
)";

TEST(Passes, TheSumOfASoftmaxComputesItsExponentials) {
  const Group group = group_of(kSoftmax);
  const int exps = stage_of(group, "exps"), sum = stage_of(group, "row_sum"), max = stage_of(group, "row_max");
  const auto joined = join(group, group.stages[exps], group.stages[sum]);
  ASSERT_TRUE(joined.has_value());
  EXPECT_EQ(joined->tee.tensor, group.stages[exps].dest);
  EXPECT_EQ(to_string(joined->stage.stage.body), to_string(joined->tee.value));
  EXPECT_FALSE(join(group, group.stages[max], group.stages[exps])) << "a reduction comes first";
}

TEST(Passes, ElementsReadTwiceOrElsewhereAreNotJoined) {
  const Group group = group_of(R"(program t {
  %0 = input "x" : f32[8,64]
  %1 = exp(%0) : f32[8,64]
  %2 = flip(%1, dims=[1]) : f32[8,64]
  %3 = add(%1, %2) : f32[8,64]
  %4 = sum(%3, dim=[1]) : f32[8]
  return %1, %4
}
kernel k0 = { %1 %2 %3 %4 } reduction
)");
  ASSERT_EQ(group.stages.size(), 2u);
  EXPECT_FALSE(join(group, group.stages[0], group.stages[1]));
}

TEST(Passes, ExponentialsLiveInTheOutput) {
  const Group group = group_of(kSoftmax);
  const std::vector<Frame> frames = build_frames(group);
  ASSERT_EQ(frames.size(), 1u);
  const int exps = group.stages[stage_of(group, "exps")].dest, max = group.stages[stage_of(group, "row_max")].dest;
  EXPECT_EQ(home_of(group, frames[0], exps), group.stages.back().dest);
  EXPECT_EQ(home_of(group, frames[0], max), -1) << "another shape";
}

TEST(Passes, TheNextRowsAreThoseTheFirstStageWaitsFor) {
  const Group group = group_of(kSoftmax);
  const std::vector<Frame> frames = build_frames(group);
  EXPECT_TRUE(next_rows(group, frames[0], frames[0].first, 1).empty());
  const auto ahead = next_rows(group, frames[0], stage_of(group, "exps"), 1);
  ASSERT_EQ(ahead.size(), 1u);
  EXPECT_EQ(group.tensors[ahead[0].tensor].name, "x");
  EXPECT_EQ(ahead[0].distance, 64);
}

}  // namespace
}  // namespace mtmc
