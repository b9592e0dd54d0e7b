#include "ir/kernel_program.h"

#include <gtest/gtest.h>

namespace mtmc {
namespace {

// relu(x) and relu(y) of one shape, tanh(x) of the same: two isomorphic kernels and one that is not.
Program three_activations() {
  auto p = parse_program(
      "program three {\n"
      "  %0 = input \"x\" : f32[64,32]\n"
      "  %1 = param \"y\" : f32[64,32]\n"
      "  %2 = relu(%0) : f32[64,32]  @ three.py:1\n"
      "  %3 = relu(%1) : f32[64,32]  @ three.py:2\n"
      "  %4 = tanh(%0) : f32[64,32]  @ three.py:3\n"
      "  return %2, %3, %4\n"
      "}\n"
      "kernel k0 = { %2 } pointwise\n"
      "kernel k1 = { %3 } pointwise\n"
      "kernel k2 = { %4 } pointwise\n");
  EXPECT_TRUE(p.ok()) << p.error().message();
  return std::move(p).value();
}

TEST(KernelProgram, StandsAlone) {
  const Program p = three_activations();
  const Program alone = kernel_program(p, p.kernels[1]);
  EXPECT_TRUE(verify(alone).ok()) << verify(alone).error().message();
  EXPECT_EQ(print(alone),
            "program kernel {\n  %0 = input \"a0\" : f32[64,32]\n  %1 = relu(%0) : f32[64,32]\n  return %1\n}\n"
            "kernel k0 = { %1 } pointwise\n");
}

TEST(KernelProgram, IsomorphicKernelsAreOneTuningProblem) {
  const Program p = three_activations();
  Hardware hardware;
  hardware.name = "a machine";
  EXPECT_EQ(tuning_key(p, p.kernels[0], hardware), tuning_key(p, p.kernels[1], hardware));
  EXPECT_NE(tuning_key(p, p.kernels[0], hardware), tuning_key(p, p.kernels[2], hardware));
  Kernel numbered = p.kernels[0];
  numbered.numbers["tile"] = 64;
  EXPECT_EQ(tuning_key(p, numbered, hardware), tuning_key(p, p.kernels[0], hardware));
  Hardware other = hardware;
  other.name = "another machine";
  EXPECT_NE(tuning_key(p, p.kernels[0], other), tuning_key(p, p.kernels[0], hardware));
}

// A product of a tensor with itself is not one of two tensors that look alike.
TEST(KernelProgram, ATensorReadTwiceIsNotTwoTensors) {
  const auto square = parse_program(
      "program p {\n  %0 = input \"x\" : f32[8,8]\n  %1 = input \"y\" : f32[8,8]\n"
      "  %2 = mul(%0, %0) : f32[8,8]\n  %3 = mul(%0, %1) : f32[8,8]\n  return %2, %3\n}\n"
      "kernel k0 = { %2 } pointwise\nkernel k1 = { %3 } pointwise\n");
  ASSERT_TRUE(square.ok()) << square.error().message();
  EXPECT_NE(print(kernel_program(*square, square->kernels[0])), print(kernel_program(*square, square->kernels[1])));
}

}  // namespace
}  // namespace mtmc
