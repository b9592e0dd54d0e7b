// What is kept of a kernel serves those that are alike in any place, and no others.
#include "ir/kernel_memo.h"

#include <gtest/gtest.h>

namespace mtmc {
namespace {

Program three() {
  auto p = parse_program(
      "program three {\n"
      "  %0 = input \"x\" : f32[64,32]\n"
      "  %1 = relu(%0) : f32[64,32]  @ three.py:1\n"
      "  %2 = relu(%1) : f32[64,32]  @ three.py:2\n"
      "  %3 = relu(%2) : f32[64,32]  @ three.py:3\n"
      "  return %3\n"
      "}\n"
      "kernel k0 = { %1 } pointwise\n"
      "kernel k1 = { %2 } pointwise\n"
      "kernel k2 = { %3 } pointwise\n");
  EXPECT_TRUE(p.ok()) << p.error().message();
  return std::move(p).value();
}

TEST(KernelMemo, TheKeyIsOfTheKernelItsScheduleAndTheMachine) {
  Program p = three();
  Hardware one, other;
  one.name = "one", other.name = "other";
  const std::string key = kernel_key(p, p.kernels[0], one);
  EXPECT_EQ(kernel_key(p, p.kernels[1], one), key);
  EXPECT_NE(kernel_key(p, p.kernels[1], other), key);
  p.kernels[1].choices["split"] = "";
  EXPECT_NE(kernel_key(p, p.kernels[1], one), key);
  p.kernels[2].numbers["warps"] = 8;
  EXPECT_NE(kernel_key(p, p.kernels[2], one), key);
}

TEST(KernelMemo, IsAskedOnce) {
  KernelMemo<int> memo;
  int asked = 0;
  const auto find = [&] { return ++asked; };
  EXPECT_EQ(memo.known("a"), std::nullopt);
  EXPECT_EQ(memo.known_or("a", find), 1);
  EXPECT_EQ(memo.known_or("a", find), 1);
  EXPECT_EQ(memo.known_or("b", find), 2);
  memo.keep("b", 7);
  EXPECT_EQ(memo.known("b"), 7);
}

TEST(KernelMemo, AnErrorNamesTheKernelThatIsAskedAbout) {
  const Error error = as_of(Error{"printing k3 for triton", "not printable yet", "got k3", ""}, "k3", "k41");
  EXPECT_EQ(error.doing, "printing k41 for triton");
  EXPECT_EQ(error.wrong, "not printable yet");
}

}  // namespace
}  // namespace mtmc
