// Functions that differ in names only are one; nothing else is.
#include "targets/triton/function_table.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace mtmc::triton {
namespace {

constexpr const char* kFirst = R"PY(@triton.jit
def k0_relu(x, w, out_relu):
    _wait()
    pid = tl.program_id(0)
    m = pid * 128 + tl.arange(0, 128)
    for step in range(54):
        x_ = tl.load(x + m, mask=m < 100, other=0)  # conv2d, model.py:7
        acc += tl.dot(x_, w, acc, input_precision="ieee")
    a, b = tl.split(acc)
    tl.store(out_relu + m, tl.maximum(acc, 0))


)PY";

std::string called(const std::string& name, const std::string& more) {
  return "_k9 = _scratch(\"" + name + "\", 12)\n_launch(" + name + ", 7, " + more + ", warps=4)";
}

TEST(FunctionTable, AnotherLayersFunctionIsCalledByTheFirstOnesName) {
  FunctionTable table;
  std::string first = called("k0_relu", "{0}, {1}, {2}"), second = called("k5_gelu", "{2}, {3}, {4}");
  const FunctionTable::Place one = table.add(kFirst, {}, first);
  std::string other = kFirst;  // the same with other names, and from another line
  for (const auto& [from, to] :
       {std::pair("k0_relu", "k5_gelu"), std::pair("out_relu", "out"), std::pair("x_", "y_"), std::pair("(x,", "(h,"),
        std::pair("(x +", "(h +"), std::pair("py:7", "py:19"), std::pair("step", "steps")})
    other = replace_all(other, from, to);
  const FunctionTable::Place two = table.add(other, {}, second);
  EXPECT_EQ(table.text(), kFirst);
  EXPECT_EQ(first, called("k0_relu", "{0}, {1}, {2}"));
  EXPECT_EQ(second, replace_all(called("k5_gelu", "{2}, {3}, {4}"), "_launch(k5_gelu", "_launch(k0_relu"));
  EXPECT_EQ(one.marker, "@triton.jit\ndef k0_relu(");
  EXPECT_EQ(one.lines, 10);
  EXPECT_EQ(two.marker, one.marker);
  EXPECT_EQ(two.lines, one.lines);
}

TEST(FunctionTable, AnyOtherDifferenceIsAnotherFunction) {
  for (const auto& [from, to] :
       {std::pair("128", "64"), std::pair("tl.maximum", "tl.minimum"), std::pair("_wait()", "_stay()"),
        std::pair("mask=", "other="), std::pair("\"ieee\"", "\"tf32\""), std::pair("tl.load(x +", "tl.load(w +"),
        std::pair("x, w,", "w, x,"), std::pair("        acc", "    acc"), std::pair("_wait()", "m = 1"),
        std::pair("+=", "-=")}) {
    const std::string other = replace_all(kFirst, from, to);
    ASSERT_NE(other, kFirst) << from;
    EXPECT_NE(without_names(other), without_names(kFirst)) << to;
  }
}

TEST(FunctionTable, NamesThatAreBoundApartStayApart) {
  const auto of = [](const std::string& body) { return without_names("@triton.jit\ndef f(a, b):\n" + body + "\n"); };
  EXPECT_EQ(of("    c = a\n    d = c + b"), of("    x = a\n    y = x + b"));
  EXPECT_NE(of("    c = a\n    d = c + b"), of("    x = a\n    y = x + x"));
  EXPECT_NE(of("    c = a + one"), of("    c = a + two")) << "globals are not the function's own";
  EXPECT_NE(of("    if c == a:"), of("    if d == a:")) << "nor is what it only compares";
  EXPECT_NE(of("    if a != b:"), of("    while a != b:")) << "a comparison binds nothing";
  EXPECT_NE(of("    m = _floor(a) >= b"), of("    m = _ceil(a) >= b"));
  EXPECT_NE(without_names("@triton.jit\ndef f(a, X=True):\n    a\n"),
            without_names("@triton.jit\ndef f(a, X=False):\n    a\n"));
  EXPECT_NE(without_names("@triton.jit\ndef f(a, X=1, Y=2):\n    return X\n"),
            without_names("@triton.jit\ndef f(a, X=1, Y=2):\n    return Y\n"));
  EXPECT_EQ(of("    p, q = split(a)\n    use(q)"), of("    r, s = split(a)\n    use(s)"));
}

TEST(FunctionTable, AFunctionThatCallsAnotherFollowsItsName) {
  const auto pair = [](const std::string& kernel) {
    return "@triton.jit\ndef " + kernel + "_part(a):\n    return a\n\n\n@triton.jit\ndef " + kernel + "(a):\n    " +
           kernel + "_part(a)\n\n\n";
  };
  FunctionTable table;
  std::string calls = "_launch(k1, 1, {0})", again = "_launch(k2, 1, {1})";
  table.add(pair("k1"), {}, calls);
  table.add(pair("k2"), {}, again);
  EXPECT_EQ(table.text(), pair("k1"));
  EXPECT_EQ(again, "_launch(k1, 1, {1})");
}

TEST(FunctionTable, KernelsThatDifferShareWhatTheyHaveInCommon) {
  const auto functions = [](const std::string& kernel, const std::string& body) {
    return "@triton.jit\ndef " + kernel + "_left(a):\n    pack(a)\n\n\n@triton.jit\ndef " + kernel +
           "_right(b):\n    pack(b)\n\n\n@triton.jit\ndef " + kernel + "(c):\n    " + body + "(c)\n\n\n";
  };
  const auto calls = [](const std::string& kernel) {
    return "_launch(" + kernel + "_left, {0})\n_launch(" + kernel + "_right, {1})\n_launch(" + kernel + ", {2})";
  };
  FunctionTable table;
  std::string first = calls("k1"), second = calls("k2"), third = calls("k3");
  EXPECT_EQ(table.add(functions("k1", "f"), {}, first).marker, "@triton.jit\ndef k1_left(");
  EXPECT_EQ(table.text().find("k1_right"), std::string::npos);
  EXPECT_EQ(first, "_launch(k1_left, {0})\n_launch(k1_left, {1})\n_launch(k1, {2})");
  const FunctionTable::Place two = table.add(functions("k2", "g"), {}, second);
  EXPECT_EQ(table.text().find("k2_left"), std::string::npos) << "that is k1's";
  EXPECT_EQ(two.marker, "@triton.jit\ndef k2(") << "what is its own is its place";
  EXPECT_EQ(second, "_launch(k1_left, {0})\n_launch(k1_left, {1})\n_launch(k2, {2})");
  EXPECT_EQ(table.add(functions("k3", "g"), {}, third).marker, two.marker) << "the place of what its result comes from";
  EXPECT_EQ(third, second);
}

// A copy's text says nothing of types, and the binary of one would move the wrong bytes of the other.
TEST(FunctionTable, OtherTypesOrWarpsAreAnotherFunction) {
  const auto copy = [](const std::string& name) {
    return "@triton.jit\ndef " + name + "(x, out):\n    tl.store(out, tl.load(x))\n\n\n";
  };
  FunctionTable table;
  std::string first = "_launch(k1, {0}, {1})", second = "_launch(k2, {2}, {3})", third = "_launch(k3, {4}, {5})";
  table.add(copy("k1"), {{"k1", "f32, f32, warps=4"}}, first);
  table.add(copy("k2"), {{"k2", "i64, i64, warps=4"}}, second);
  table.add(copy("k3"), {{"k3", "f32, f32, warps=8"}}, third);
  EXPECT_EQ(table.text(), copy("k1") + copy("k2") + copy("k3"));
  EXPECT_EQ(second, "_launch(k2, {2}, {3})");
  std::string fourth = "_launch(k4, {4}, {5})";
  table.add(copy("k4"), {{"k4", "i64, i64, warps=4"}}, fourth);
  EXPECT_EQ(fourth, "_launch(k2, {4}, {5})");
}

TEST(FunctionTable, WhatIsNoRowOfFunctionsStaysAsItIs) {
  FunctionTable table;
  const std::string text = "_WORDS = 4\n\n\n@triton.jit\ndef k1(a):\n    return a\n\n\ndef run():\n    k1(1)\n\n\n";
  std::string calls = "run()";
  table.add(text, {}, calls);
  table.add(text, {}, calls);
  EXPECT_EQ(table.text(), text + text);
  EXPECT_EQ(calls, "run()");
}

}  // namespace
}  // namespace mtmc::triton
