// What actions do on the triton target: how products begin, `precision` and `capture`.
#include <gtest/gtest.h>

#include "actions/action.h"
#include "base/check.h"

namespace mtmc {
namespace {

constexpr const char* kMixed = R"(program mixed {
  %0 = input "x" : f32[8,16,32,32]
  %1 = input "w" : f32[16,16,3,3]
  %2 = input "v" : f32[32,32]
  %3 = conv2d(%0, %1, none, padding=[1,1]) : f32[8,16,32,32]
  %4 = relu(%3) : f32[8,16,32,32]
  %5 = linear(%4, %2, none) : f32[8,16,32,32]
  return %5
}
kernel k0 = { %3 } library
kernel k1 = { %4 } library
kernel k2 = { %5 } library
)";

struct World {
  Program program = parse_program(kMixed).value();
  Hardware hardware = h200_hardware();
  ActionContext context{hardware, *find_target("triton")};

  Program after(const std::string& action) const {
    auto next = apply_action(program, parse_action(action).value(), context);
    MTMC_CHECK(next.ok(), next.error().message());
    return std::move(*next);
  }
  std::string refusal(const std::string& action) const {
    const auto next = apply_action(program, parse_action(action).value(), context);
    return next.ok() ? "" : next.error().message();
  }
};

TEST(TritonActions, ProductsBeginAboutAsExactAsWhatTheyReplace) {
  const World world;
  EXPECT_EQ(world.after("lower %3").kernel("k0")->choices.at("precision"), "half");
  EXPECT_EQ(world.after("lower %5").kernel("k2")->choices.at("precision"), "split");
  EXPECT_EQ(world.after("fuse %3 %4 %5").kernels[0].choices.at("precision"), "split");
}

TEST(TritonActions, PrecisionIsAWordOfTheTarget) {
  World world;
  world.program = world.after("lower %5");
  EXPECT_EQ(world.after("precision:ieee %5").kernel("k2")->choices.at("precision"), "ieee");
  EXPECT_NE(world.refusal("precision:half %5").find("not a way to multiply"), std::string::npos);
  EXPECT_NE(world.refusal("precision:split %5").find("in this way already"), std::string::npos);
}

TEST(TritonActions, CaptureTakesTheWholeCallWithItsLibraryCalls) {
  World world;
  world.program = world.after("capture %3 %4 %5");
  ASSERT_EQ(world.program.captures.size(), 1u);
  EXPECT_EQ(world.program.captures[0].size(), world.program.kernels.size());
  EXPECT_NE(world.refusal("capture %3 %4 %5").find("captured already"), std::string::npos);
}

}  // namespace
}  // namespace mtmc
