#include "search/prospect.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "actions/action.h"
#include "ir/hardware.h"
#include "targets/cost.h"
#include "targets/target.h"

namespace mtmc {
namespace {

constexpr const char* kBlock = R"(program block {
  %0 = input "x" : f32[1024,512]
  %1 = param "w" : f32[512,512]
  %2 = linear(%0, %1, none) : f32[1024,512]
  %3 = relu(%2) : f32[1024,512]
  %4 = add(%3, %0) : f32[1024,512]
  %5 = exp(%4) : f32[1024,512]
  %6 = sum(%5, dim=[1], keepdim=false) : f32[1024]
  return %3, %6
}
kernel k0 = { %2 } library
kernel k1 = { %3 } library
kernel k2 = { %4 } library
kernel k3 = { %5 } library
kernel k4 = { %6 } library
)";

// What it remembers of other Programs, of the same graph and of rewritten ones, changes no answer.
class EveryTarget : public ::testing::TestWithParam<const TargetDef*> {};
std::vector<const TargetDef*> targets_with_actions() {
  std::vector<const TargetDef*> targets = all_targets();
  std::erase_if(targets, [](const TargetDef* target) { return target->handwritten; });
  return targets;
}
INSTANTIATE_TEST_SUITE_P(Forecaster, EveryTarget, ::testing::ValuesIn(targets_with_actions()),
                         [](const auto& one) { return std::string(one.param->name); });

TEST_P(EveryTarget, WhatItHasSeenChangesNoAnswer) {
  const Hardware hardware = GetParam()->device == Device::cuda ? h200_hardware() : null_hardware();
  const ActionContext context{hardware, *GetParam()};
  Forecaster forecaster(context);
  Program program = parse_program(kBlock).value();
  int asked = 0;
  for (int step = 0; step < 4; ++step) {
    Program last = program;
    for (const Action& action : enumerate_actions(program, context)) {
      if (action.type == "stop") continue;
      const auto next = apply_action(program, action, context);
      ASSERT_TRUE(next.ok()) << store_text(action) << ": " << next.error().message();
      const Prospect known = forecaster.prospect(*next), fresh = Forecaster(context).prospect(*next);
      EXPECT_DOUBLE_EQ(known.now, fresh.now) << store_text(action);
      EXPECT_DOUBLE_EQ(known.completed, fresh.completed) << store_text(action);
      EXPECT_DOUBLE_EQ(fresh.now, total_seconds(*next, context.target, hardware)) << store_text(action);
      last = *next;
      ++asked;
    }
    program = last;
  }
  EXPECT_GT(asked, 20);
}

// What a graph copies is charged once, whatever its first kernel is; its launches are one.
TEST(Prospect, AGraphCostsItsCopiesAlsoWhereItBeginsWithAView) {
  const TargetDef& triton = *find_target("triton");
  const Hardware hardware = h200_hardware();
  const auto chain = [](bool view, bool captured) {
    std::string text = R"(program chain {
  %0 = input "x" : f32[64,1024]
)";
    text += view ? "  %1 = transpose(%0, dim0=0, dim1=1) : f32[1024,64]\n" : "  %1 = neg(%0) : f32[64,1024]\n";
    const std::string type = view ? "f32[1024,64]" : "f32[64,1024]";
    std::string kernels = "kernel k1 = { %1 } library\n", names = "k1";
    for (int k = 2; k <= 8; ++k) {
      text += fmt::format("  %{} = {}(%{}) : {}\n", k, k % 2 == 0 ? "exp" : "tanh", k - 1, type);
      kernels += fmt::format("kernel k{} = {{ %{} }} library\n", k, k);
      names += fmt::format(" k{}", k);
    }
    text += "  return %8\n}\n" + kernels;
    if (captured) text += "capture { " + names + " }\n";
    return parse_program(text).value();
  };
  const auto seconds = [&](bool view, bool captured) { return total_seconds(chain(view, captured), triton, hardware); };
  const auto host = [&](bool captured) { return Forecaster({hardware, triton}).prospect(chain(false, captured)).host; };
  EXPECT_DOUBLE_EQ(host(false), 8 * hardware.library_seconds);
  EXPECT_DOUBLE_EQ(host(true), hardware.library_seconds);
  const double bytes = 2.0 * 64 * 1024 * 4 * 2;  // in and out, read and written
  // The view is one launch less, and no copy less.
  EXPECT_GT(seconds(true, true), 0.8 * seconds(false, true));
  for (const bool view : {false, true}) {
    EXPECT_LT(seconds(view, true), seconds(view, false));
    EXPECT_GT(seconds(view, true), bytes / hardware.bandwidth + hardware.library_seconds) << view;
  }
}

// mish(x) needs x three times: inlined in one another, what is computed would double and triple if each were counted.
TEST(Prospect, WhatIsPrintedOnceIsChargedOnce) {
  const auto seconds = [](const char* kernels) {
    const std::string text = R"(program mishes {
  %0 = input "x" : f32[8192,8192]
  %1 = mish(%0) : f32[8192,8192]
  %2 = mish(%1) : f32[8192,8192]
  %3 = mish(%2) : f32[8192,8192]
  return %3
}
)";
    return total_seconds(parse_program(text + kernels).value(), *find_target("triton"), h200_hardware());
  };
  const double fused = seconds("kernel k0 = { %1 %2 %3 } pointwise\n");
  const double apart =
      seconds("kernel k0 = { %1 } pointwise\nkernel k1 = { %2 } pointwise\nkernel k2 = { %3 } pointwise\n");
  EXPECT_LT(fused, 0.8 * apart);
}

TEST(Prospect, AConvolutionOfFewChannelsLeavesTheLibrarysMatrixUnitsIdle) {
  const auto seconds = [](int in, int out, int images) {
    return total_seconds(parse_program(fmt::format(R"(program few {{
  %0 = input "x" : f32[{},{},16,32,32]
  %1 = param "w" : f32[{},{},3,3,3]
  %2 = conv_transpose3d(%0, %1, none, stride=[2,2,2]) : f32[{},{},33,65,65]
  return %2
}}
kernel k0 = {{ %2 }} library
)",
                                                   images, in, in, out, images, out))
                             .value(),
                         *find_target("triton"), h200_hardware());
  };
  // As many multiplications, the second with as much to read and write or more.
  EXPECT_GT(seconds(4, 16, 512), 2.5 * seconds(32, 64, 16));
}

}  // namespace
}  // namespace mtmc
