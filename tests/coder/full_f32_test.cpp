// Which convolutions of a Program eager computes in full f32, as the tuner's process answers.
#include "coder/full_f32.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/op.h"

namespace mtmc {
namespace {

using ::testing::ElementsAre;

// Three convolutions, two of them alike; one of another type, and a product that is in f32 anyway.
constexpr const char* kConvolutions = R"(program convolutions {
  %0 = input "x" : f32[8,16,32,32]
  %1 = input "w" : f32[16,16,3,3]
  %2 = input "v" : f32[16,16,1,1]
  %3 = input "h" : f16[8,16,32,32]
  %4 = input "u" : f16[16,16,3,3]
  %5 = conv2d(%0, %1, none, padding=[1,1]) : f32[8,16,32,32]
  %6 = conv2d(%5, %1, none, padding=[1,1]) : f32[8,16,32,32]
  %7 = conv2d(%6, %2, none) : f32[8,16,32,32]
  %8 = conv2d(%3, %4, none, padding=[1,1]) : f16[8,16,32,32]
  %9 = matmul(%7, %7) : f32[8,16,32,32]
  return %8, %9
}
kernel k0 = { %5 } library
kernel k1 = { %6 } library
kernel k2 = { %7 } library
kernel k3 = { %8 } library
kernel k4 = { %9 } library
)";

// Says that windows of 3 x 3 are computed in full f32.
struct TunerThatKnows final : Tuner {
  Result<std::vector<Measured>> measure(const std::vector<std::string>&, const std::vector<TensorType>&, double,
                                        double) override {
    return Error{"tuning", "nothing is measured here", "", ""};
  }
  Result<std::vector<bool>> in_full_f32(const std::vector<LibraryCall>& calls) override {
    asked = calls;
    std::vector<bool> full;
    for (const LibraryCall& call : calls) full.push_back(call.inputs.at(1).shape.back() == 3);
    return full;
  }
  std::vector<LibraryCall> asked;
};

TEST(FullF32, EqualCallsAreTriedOnceAndMarkedTogether) {
  TunerThatKnows tuner;
  const Program program = with_full_f32(parse_program(kConvolutions).value(), tuner).value();
  ASSERT_EQ(tuner.asked.size(), 2);
  EXPECT_EQ(tuner.asked[0].text, "F.conv2d(x0, x1, None, 1, [1, 1], 1, 1)");
  EXPECT_EQ(to_string(tuner.asked[0].inputs[0]), "f32[8,16,32,32]");
  std::vector<bool> marked;
  for (const Node& node : program.nodes) marked.push_back(node.attrs.has(kFullF32));
  EXPECT_THAT(marked, ElementsAre(true, true, false, false, false));
  EXPECT_FALSE(in_tf32(program.nodes[0]));
  EXPECT_TRUE(in_tf32(program.nodes[2]));
  EXPECT_EQ(parse_program(print(program)).value(), program);
}

TEST(FullF32, NothingIsAskedOfATunerThatDoesNotKnow) {
  PythonTuner tuner("cpu");
  const Program program = parse_program(kConvolutions).value();
  EXPECT_EQ(with_full_f32(program, tuner).value(), program);
}

}  // namespace
}  // namespace mtmc
