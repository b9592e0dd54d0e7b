#include "targets/import_time.h"

#include <gtest/gtest.h>

namespace mtmc {
namespace {

std::set<ValueId> made(const std::string& body, const std::string& kernels) {
  const auto program = parse_program("program t {\n  %0 = input \"x\" : f32[4,4]\n" + body + "}\n" + kernels);
  EXPECT_TRUE(program.ok()) << program.error().message();
  return made_at_import(*program);
}

constexpr const char* kMask = R"(  %1 = arange(end=4) : i64[4]
  %2 = constant "0" : i64[]
  %3 = gt(%1, %2) : b1[4]
)";
constexpr const char* kKernels = "kernel k0 = { %1 } library\nkernel k1 = { %3 } library\nkernel k2 = { %4 } library\n";

TEST(ImportTime, AMaskThatDependsOnNumbersIsMadeOnce) {
  EXPECT_EQ(made(std::string(kMask) + "  %4 = mul(%0, %3) : f32[4,4]\n  return %4\n", kKernels),
            (std::set<ValueId>{1, 3}));
}

TEST(ImportTime, WhatTheCallerGetsIsMadeAnewWithAllThatItMayBeAViewOf) {
  EXPECT_EQ(made(std::string(kMask) + "  %4 = mul(%0, %3) : f32[4,4]\n  return %4, %3\n", kKernels),
            std::set<ValueId>{});
}

TEST(ImportTime, OurOwnKernelsAreLaunchedInEachCall) {
  EXPECT_EQ(made(std::string(kMask) + "  %4 = mul(%0, %3) : f32[4,4]\n  return %4\n",
                 "kernel k0 = { %1 %3 } pointwise\nkernel k1 = { %4 } library\n"),
            std::set<ValueId>{});
}

TEST(ImportTime, AKernelOfOursThatMakesAMaskOnceMoreForItselfIsLaunchedInEachCall) {
  const auto program = parse_program(std::string("program t {\n  %0 = input \"x\" : f32[4,4]\n") + kMask +
                                     "  %4 = mul(%0, %3) : f32[4,4]\n  %5 = cumsum(%4, dim=0) : f32[4,4]\n"
                                     "  %6 = mul(%5, %3) : f32[4,4]\n  return %6\n}\n"
                                     "kernel k0 = { %1 } library\nkernel k1 = { %3 } library\n"
                                     "kernel k2 = { %3 %4 } pointwise\nkernel k3 = { %5 } library\n"
                                     "kernel k4 = { %6 } library\n");
  ASSERT_TRUE(program.ok()) << program.error().message();
  const auto made = made_at_import(*program);
  std::vector<bool> run;
  for (const Kernel& kernel : program->kernels) run.push_back(runs_at_import(kernel, made));
  EXPECT_EQ(run, (std::vector<bool>{true, true, false, false, false}));
}

TEST(ImportTime, OfATensorOnlyTheTypeMayBeRead) {
  EXPECT_EQ(made("  %1 = full_like(%0, value=2.0) : f32[4,4]\n  %2 = mul(%0, %1) : f32[4,4]\n  return %2\n",
                 "kernel k0 = { %1 } library\nkernel k1 = { %2 } library\n"),
            std::set<ValueId>{1});
}

TEST(ImportTime, RandomNumbersAreDrawnInEachCall) {
  EXPECT_EQ(made("  %1 = library(call=\"aten.rand.default\", args=\"[4, 4]\", types=\"f32[4,4]\") : f32[4,4]\n"
                 "  %2 = mul(%0, %1) : f32[4,4]\n  return %2\n",
                 "kernel k0 = { %1 } library\nkernel k1 = { %2 } library\n"),
            std::set<ValueId>{});
}

TEST(ImportTime, NoMoreThan64MebibytesStay) {
  EXPECT_EQ(made("  %1 = arange(end=4) : i64[4]\n  %2 = full(shape=[4096,4096], value=1.0) : f32[4096,4096]\n"
                 "  %3 = full(shape=[8], value=1.0) : f32[8]\n  %4 = sum(%2, dims=[0,1]) : f32[]\n"
                 "  %5 = mul(%0, %4) : f32[4,4]\n  return %5\n",
                 "kernel k0 = { %1 } library\nkernel k1 = { %2 } library\nkernel k2 = { %3 } library\n"
                 "kernel k3 = { %4 } library\nkernel k4 = { %5 } library\n"),
            (std::set<ValueId>{1, 3}))
      << "the large one and the sum over it are made in each call";
}

}  // namespace
}  // namespace mtmc
