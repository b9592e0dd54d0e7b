#include "targets/in_place.h"

#include <gtest/gtest.h>

namespace mtmc {
namespace {

Program parsed(const std::string& tail, const std::string& kernels = "kernel k0 = { %5 %6 %7 %8 %9 } library\n") {
  auto program = parse_program(R"(program t {
  %0 = input "x" : f32[4,2,8]
  %1 = param "n.weight" : f32[2]
  %2 = param "n.bias" : f32[2]
  %3 = buffer "n.running_mean" : f32[2]
  %4 = buffer "n.running_var" : f32[2]
  %5, %6, %7, %8, %9 = batch_norm_train(%0, %1, %2, %3, %4, eps=1e-05, momentum=0.1) : f32[4,2,8], f32[2], f32[2], f32[2], f32[2]
)" + tail + "}\n" + kernels);
  EXPECT_TRUE(program.ok()) << program.error().message();
  return *program;
}

constexpr const char* kBoth = "  state \"n.running_mean\" = %8\n  state \"n.running_var\" = %9\n";

bool moves(const std::string& tail) {
  const Program program = parsed(tail);
  return moves_in_place(program, program.nodes[0]);
}

TEST(InPlace, StatisticsThatNobodyElseReadsMoveWhereTheyLie) {
  EXPECT_TRUE(moves(std::string(kBoth) + "  return %5\n"));
}

TEST(InPlace, WhatIsReadBesideHasAVariable) {
  EXPECT_FALSE(moves(std::string(kBoth) + "  return %5, %8\n")) << "the new mean";
  EXPECT_FALSE(moves(std::string(kBoth) + "  return %5, %6\n")) << "the batch's mean";
  EXPECT_FALSE(moves(std::string(kBoth) + "  return %5, %3\n")) << "the old mean";
}

TEST(InPlace, ABufferThatKeepsItsValueOrGetsAnotherIsNotWritten) {
  EXPECT_FALSE(moves("  state \"n.running_var\" = %9\n  return %5\n")) << "the mean stays";
  EXPECT_FALSE(moves("  state \"n.running_mean\" = %9\n  state \"n.running_var\" = %8\n  return %5\n"));
}

// A norm that two places of forward share: the second one's operand is no buffer, and the first one's result is read.
TEST(InPlace, OfANormThatIsCalledTwiceNeitherMoves) {
  const Program program = parsed(
      R"(  %10, %11, %12, %13, %14 = batch_norm_train(%5, %1, %2, %8, %9, eps=1e-05, momentum=0.1) : f32[4,2,8], f32[2], f32[2], f32[2], f32[2]
  state "n.running_mean" = %13
  state "n.running_var" = %14
  return %10
)",
      "kernel k0 = { %5 %6 %7 %8 %9 } library\nkernel k1 = { %10 %11 %12 %13 %14 } library\n");
  EXPECT_FALSE(moves_in_place(program, program.nodes[0]) || moves_in_place(program, program.nodes[1]));
}

}  // namespace
}  // namespace mtmc
