#include <gtest/gtest.h>

#include "ir/program.h"

namespace mtmc {
namespace {

constexpr const char* kText = R"(program mlp {
  %0 = input "x" : f32[64,512]
  %1 = param "fc.weight" : f32[256,512]
  %2 = buffer "steps" : i64[]
  %3 = linear(%0, %1, none) : f32[64,256]  @ mlp.py:15
  %4 = relu(%3) : f32[64,256] storage f16 layout (1,0)  @ mlp.py:16
  %5, %6 = max_dim(%4, dim=1, keepdim=false) : f32[64], i64[64]
  %7 = scale(%2, by=2.5, list=[1,2], name="a \"b\"", to=f16, top=inf) : i64[]
  state "steps" = %7
  return %4, %5
}
kernel k0 = { %3 } library
kernel k1 = { %4 %5 %6 } reduction order:reversed tiled | m:16 unroll:4
kernel k2 = { %7 } pointwise tiled
capture { k0 k1 }
rewritten simplify "batch_norm folded into conv2d"
)";

TEST(Program, PrintsWhatItParsed) {
  auto program = parse_program(kText);
  ASSERT_TRUE(program.ok()) << program.error().message();
  EXPECT_EQ(print(*program), kText);
  auto again = parse_program(print(*program));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, *program);
}

TEST(Program, StateHashIgnoresTunedNumbers) {
  Program a = *parse_program(kText);
  Program b = a;
  b.kernels[1].numbers["m"] = 32;
  EXPECT_NE(program_hash(a), program_hash(b));
  EXPECT_EQ(state_hash(a), state_hash(b));
  b.kernels[1].choices["split"] = "";
  EXPECT_NE(state_hash(a), state_hash(b));
}

// Stores keep Programs as text: a word that was renamed is named, not misread.
TEST(Program, RefusesUnknownWordsInASchedule) {
  const auto refusal = [](const std::string& from, const std::string& to) {
    const std::string text = kText;
    return parse_program(text.substr(0, text.find(from)) + to + text.substr(text.find(from) + from.size()))
        .error()
        .message();
  };
  EXPECT_EQ(refusal("order:reversed", "order:rows"),
            "verifying a program: an unknown word in the schedule of k1: got order:rows, wanted order:reversed");
  EXPECT_EQ(refusal("order:reversed", "precision:split"),
            "verifying a program: an unknown word in the schedule of k1: got precision:split, wanted precision:half, "
            "precision:as_eager, precision:two_part, precision:ieee");
  EXPECT_EQ(refusal("tiled |", "tiled:twice |"),
            "verifying a program: an unknown word in the schedule of k1: got tiled:twice, wanted tiled");
  EXPECT_EQ(refusal("order:reversed", "channels_last"),
            "verifying a program: an unknown word in the schedule of k1: got channels_last, wanted tiled, pipelined, "
            "split, order:reversed, window:im2win, precision:half, precision:as_eager, precision:two_part, "
            "precision:ieee");
}

TEST(Program, ReadsAndWrites) {
  const Program program = *parse_program(kText);
  EXPECT_EQ(program.reads(program.kernels[1]), (std::vector<ValueId>{3}));
  EXPECT_EQ(program.writes(program.kernels[1]), (std::vector<ValueId>{4, 5}));
  EXPECT_EQ(program.writes(program.kernels[2]), (std::vector<ValueId>{7}));
}

// One walk over all kernels says what each says alone; here one value is computed twice, and one by who needs it.
TEST(Program, ReadsAndWritesOfAllKernels) {
  for (const char* kernels :
       {"kernel k0 = { %1 } pointwise\nkernel k1 = { %2 } pointwise\nkernel k2 = { %3 } pointwise\n",
        "kernel k0 = { %1 %2 } pointwise\nkernel k1 = { %1 %3 } pointwise\n",
        "kernel k0 = { %1 %2 } pointwise\nkernel k1 = { %3 } pointwise\n", "kernel k0 = { %1 %2 %3 } pointwise\n"}) {
    const auto program = parse_program(
        "program p {\n  %0 = input \"x\" : f32[2]\n  %1 = exp(%0) : f32[2]\n  %2 = relu(%1) : f32[2]\n"
        "  %3 = mul(%1, %0) : f32[2]\n  return %2, %3\n}\n" +
        std::string(kernels));
    ASSERT_TRUE(program.ok()) << program.error().message();
    const auto reads = program->reads_of_all(), writes = program->writes_of_all();
    for (size_t k = 0; k < program->kernels.size(); ++k) {
      EXPECT_EQ(reads[k], program->reads(program->kernels[k])) << kernels;
      EXPECT_EQ(writes[k], program->writes(program->kernels[k])) << kernels;
    }
  }
}

std::string error_of(std::string text) {
  auto program = parse_program(text);
  return program.ok() ? "" : program.error().message();
}

TEST(Program, RefusesWithLineAndColumn) {
  EXPECT_EQ(error_of("program p {\n  %0 = input x : f32[2]\n"),
            "parsing a program, line 2, column 14: unexpected text: got 'x : f32[2]', wanted a quoted text");
  EXPECT_EQ(error_of("program p {\n  %1 = relu(%0) : f32[2]\n  return %1\n}\nkernel k0 = { %1 } library\n"),
            "verifying a program: a value is used before it is defined: got %0 in relu");
  EXPECT_EQ(error_of("program p {\n  %0 = input \"x\" : f32[2]\n  %1 = relu(%0) : f32[2]\n  return %1\n}\n"),
            "verifying a program: a node is in no kernel: got %1");
  const std::string one = "program p {\n  %0 = input \"x\" : f32[2]\n  %1 = relu(%0) : f32[2]\n  return %1\n}\n";
  for (const char* id : {"none", "%1900000000", "%0"})  // ids that are no result, however far away
    EXPECT_EQ(error_of(one + "kernel k0 = { %1 } library\nkernel k1 = { " + id + " } library\n"),
              std::string("verifying a program: a kernel computes no result: got k1 ") + id);
}

}  // namespace
}  // namespace mtmc
