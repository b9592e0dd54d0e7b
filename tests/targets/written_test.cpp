#include "targets/written.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "targets/module_printer.h"

namespace mtmc {
namespace {

// Every node is a library kernel of its own.
Program parsed(const std::string& body) {
  std::string kernels;
  for (const std::string& line : split(body, '\n')) {
    const size_t equals = line.find(" = "), leaf = line.find('"');
    if (line.starts_with("  %") && (leaf == std::string::npos || line.find('(') < leaf))
      kernels += "kernel k" + std::to_string(kernels.size()) + " = { " + line.substr(2, equals - 2) + " } library\n";
  }
  auto program = parse_program("program t {\n  %0 = input \"x\" : f32[4,8]\n  %1 = buffer \"b\" : f32[32,8]\n" + body +
                               "}\n" + kernels);
  EXPECT_TRUE(program.ok()) << program.error().message();
  reset_kernels(*program);
  return *program;
}

// forward as it is printed, a line each, without checks and comments.
std::string forward(const Program& program) {
  ModuleShell shell;
  shell.constructor_source = "class ModelNew(torch.nn.Module):\n    # mtmc: forward\n";
  for (const Value& value : program.values)
    if (value.kind == ValueKind::input) shell.arguments.push_back(value.name);
  const std::string text = print_module(program, shell, {}).text;
  std::string lines;
  size_t at = text.find("with torch.no_grad():\n");
  at = text.find('\n', at) + 1;
  while (at < text.find("        _warn_about_gradients(self)\n")) {
    const size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    if (line.find("_expect(\"x\"") == std::string::npos) lines += line.substr(line.find_first_not_of(' ')) + "\n";
    at = end + 1;
  }
  return lines;
}
std::string forward(const std::string& body) { return forward(parsed(body)); }

constexpr const char* kWrite = "  %2 = slice_scatter(%1, %0, dim=0, start=4, end=8) : f32[32,8]\n";
constexpr const char* kState = "  state \"b\" = %2\n";
constexpr const char* kCopied = "v2 = torch.slice_scatter(v1, x, 0, 4, 8, 1)\n";

TEST(Written, APartOfABufferIsWrittenWhereItLies) {
  EXPECT_EQ(forward(std::string(kWrite) + "  %3 = sum(%2, dim=[1]) : f32[32]\n" + kState + "  return %3\n"),
            "v1 = self.b\nv1[4:8] = x\nv3 = torch.ops.aten.sum.dim_IntList(v1, [1], False, dtype=None)\n");
}

TEST(Written, SoAreCallsThatTorchHasAFormInPlaceOf) {
  EXPECT_EQ(forward("  %2 = input \"i\" : i64[4]\n"
                    "  %3 = library(%1, %2, %0, args=\"{0}, [{1}], {2}, True\", call=\"aten.index_put.default\", "
                    "types=\"f32[32,8]\") : f32[32,8]\n"
                    "  %4 = sum(%3, dim=[1]) : f32[32]\n  state \"b\" = %3\n  return %4\n"),
            "i = _expect(\"i\", i, (4,), torch.int64)\nv1 = self.b\n"
            "torch.ops.aten.index_put_.default(v1, [i], x, True)\n"
            "v4 = torch.ops.aten.sum.dim_IntList(v1, [1], False, dtype=None)\n");
}

TEST(Written, NotWhereTheOldContentIsReadAfterwards) {
  const std::string later = "  %3 = sub(%2, %1) : f32[32,8]\n  %4 = sum(%3, dim=[1]) : f32[32]\n";
  EXPECT_NE(forward(kWrite + later + kState + "  return %4\n").find(kCopied), std::string::npos);
}

TEST(Written, AViewOfTheOldContentIsTheOldContent) {
  const std::string body =
      "  %2 = select(%1, dim=0, index=5) : f32[8]\n"
      "  %3 = slice_scatter(%1, %0, dim=0, start=4, end=8) : f32[32,8]\n"
      "  %4 = exp(%2) : f32[8]\n  state \"b\" = %3\n  return %4\n";
  EXPECT_NE(forward(body).find("v3 = torch.slice_scatter(v1, x"), std::string::npos);
}

TEST(Written, WhatWasGatheredFromItIsNot) {
  EXPECT_NE(forward("  %2 = input \"i\" : i64[4]\n  %3 = index(%1, %2) : f32[4,8]\n"
                    "  %4 = slice_scatter(%1, %0, dim=0, start=4, end=8) : f32[32,8]\n"
                    "  %5 = exp(%3) : f32[4,8]\n  state \"b\" = %4\n  return %5\n")
                .find("v1[4:8] = x\n"),
            std::string::npos);
}

TEST(Written, NeitherAnArgumentNorABufferThatStaysNorAPlainAttributeIsWritten) {
  EXPECT_NE(forward("  %2 = select(%0, dim=0, index=0) : f32[8]\n"
                    "  %3 = select_scatter(%0, %2, dim=0, index=1) : f32[4,8]\n  return %3\n")
                .find("v3 = torch.select_scatter(x, v2, 0, 1)"),
            std::string::npos);
  EXPECT_NE(forward(std::string(kWrite) + "  return %2\n").find(kCopied), std::string::npos);
  EXPECT_NE(forward("  %2 = buffer \".kept\" : f32[32,8]\n"
                    "  %3 = slice_scatter(%2, %0, dim=0, start=4, end=8) : f32[32,8]\n"
                    "  %4 = sum(%3, dim=[1]) : f32[32]\n  state \".kept\" = %3\n  return %4\n")
                .find("v3 = torch.slice_scatter(v2, x"),
            std::string::npos);
}

TEST(Written, ResultsOfOurOwnAreWrittenAndReturned) {
  EXPECT_EQ(forward("  %2 = mul(%0, %0) : f32[4,8]\n  %3 = select(%0, dim=0, index=0) : f32[8]\n"
                    "  %4 = select_scatter(%2, %3, dim=0, index=1) : f32[4,8]\n  return %4\n"),
            "v2 = torch.mul(x, x)\nv3 = torch.select(x, 0, 0)\nv2[1] = v3; del v3\n");
}

TEST(Written, ButNotResultsOfACallThatMayLeaveThemInAnArgument) {
  EXPECT_NE(forward("  %2 = library(%0, args=\"{0}\", call=\"aten.unknown.default\", types=\"f32[4,8]\") : f32[4,8]\n"
                    "  %3 = select(%0, dim=0, index=0) : f32[8]\n"
                    "  %4 = select_scatter(%2, %3, dim=0, index=1) : f32[4,8]\n  return %4\n")
                .find("v4 = torch.select_scatter(v2, v3"),
            std::string::npos);
}

TEST(Written, NorWhatIsRepeatedInMemory) {
  EXPECT_NE(
      forward(
          "  %2 = exp(%0) : f32[4,8]\n  %3 = slice(%2, end=1) : f32[1,8]\n  %4 = expand(%3, size=[4,8]) : f32[4,8]\n"
          "  %5 = select(%0, dim=0, index=0) : f32[8]\n"
          "  %6 = select_scatter(%4, %5, dim=0, index=1) : f32[4,8]\n  return %6\n")
          .find("v6 = torch.select_scatter(v4, v5"),
      std::string::npos);
}

TEST(Written, APartOfItselfIsCopiedFirst) {
  EXPECT_NE(forward("  %2 = slice(%1, start=0, end=4) : f32[4,8]\n"
                    "  %3 = slice_scatter(%1, %2, dim=0, start=2, end=6) : f32[32,8]\n"
                    "  %4 = sum(%3, dim=[1]) : f32[32]\n  state \"b\" = %3\n  return %4\n")
                .find("v3 = torch.slice_scatter(v1, v2"),
            std::string::npos);
}

// What assignments to views of views become.
TEST(Written, APartOfAPartIsWrittenAndLiesThere) {
  EXPECT_EQ(forward("  %2 = select(%0, dim=0, index=0) : f32[8]\n  %3 = slice(%2, end=3) : f32[3]\n"
                    "  %4 = select(%1, dim=0, index=9) : f32[8]\n"
                    "  %5 = slice_scatter(%4, %3, start=2, end=5) : f32[8]\n"
                    "  %6 = select_scatter(%1, %5, dim=0, index=9) : f32[32,8]\n"
                    "  %7 = sum(%6, dim=[1]) : f32[32]\n  state \"b\" = %6\n  return %7\n"),
            "v1 = self.b\nv2 = torch.select(x, 0, 0)\n"
            "v3 = torch.ops.aten.slice(v2, 0, None, 3, 1); del v2\nv4 = torch.select(v1, 0, 9)\nv4[2:5] = v3; del v3\n"
            "del v4  # select_scatter: it lies there\n"
            "v7 = torch.ops.aten.sum.dim_IntList(v1, [1], False, dtype=None)\n");
  EXPECT_NE(forward("  %2 = select(%0, dim=0, index=0) : f32[8]\n  %4 = select(%1, dim=0, index=9) : f32[8]\n"
                    "  %5 = slice_scatter(%4, %2, start=0, end=8) : f32[8]\n"
                    "  %6 = select_scatter(%1, %5, dim=0, index=8) : f32[32,8]\n"
                    "  %7 = sum(%6, dim=[1]) : f32[32]\n  state \"b\" = %6\n  return %7\n")
                .find("v5 = torch.slice_scatter(v4, v2"),
            std::string::npos)
      << "another row";
}

TEST(Written, UnderAnotherShapeOnlyABufferInOrderIs) {
  EXPECT_EQ(forward("  %2 = input \"i\" : i64[4]\n  %3 = reshape(%1, shape=[8,4,8]) : f32[8,4,8]\n"
                    "  %4 = select_scatter(%3, %0, dim=0, index=1) : f32[8,4,8]\n"
                    "  %5 = reshape(%4, shape=[32,8]) : f32[32,8]\n"
                    "  %6 = sum(%5, dim=[1]) : f32[32]\n  state \"b\" = %5\n  return %6\n"),
            "i = _expect(\"i\", i, (4,), torch.int64)\nv1 = _expect(\"b\", self.b, (32, 8), torch.float32)\n"
            "v3 = torch.reshape(v1, [8, 4, 8])\nv3[1] = x\nv5 = torch.reshape(v3, [32, 8]); del v3\n"
            "v6 = torch.ops.aten.sum.dim_IntList(v5, [1], False, dtype=None)\nif v1 is not self.b: self.b.copy_(v1)\n");
  EXPECT_NE(forward("  %2 = transpose(%1, dim0=0, dim1=1) : f32[8,32]\n  %3 = reshape(%2, shape=[64,4]) : f32[64,4]\n"
                    "  %4 = slice(%3, end=8) : f32[8,4]\n  %5 = transpose(%0, dim0=0, dim1=1) : f32[8,4]\n"
                    "  %6 = slice_scatter(%3, %5, dim=0, start=0, end=8) : f32[64,4]\n"
                    "  %7 = reshape(%6, shape=[8,32]) : f32[8,32]\n  %8 = transpose(%7, dim0=0, dim1=1) : f32[32,8]\n"
                    "  %9 = sum(%8, dim=[1]) : f32[32]\n  state \"b\" = %8\n  return %9\n")
                .find("v6 = torch.slice_scatter(v3, v5"),
            std::string::npos)
      << "torch copies what it reshapes";
}

TEST(Written, TheCallerGetsACopyOfWhatLiesInABuffer) {
  EXPECT_EQ(forward(std::string(kWrite) + "  %3 = slice(%2, end=2) : f32[2,8]\n" + kState + "  return %3\n"),
            "v1 = self.b\nv1[4:8] = x\nv3 = torch.ops.aten.slice(v1, 0, None, 2, 1)\nv3 = v3.clone()\n");
}

TEST(Written, ABufferThatGetsAnotherValueIsWrittenUntilThen) {
  EXPECT_EQ(forward(std::string(kWrite) + "  %3 = mul(%2, %2) : f32[32,8]\n  %4 = sum(%3, dim=[1]) : f32[32]\n"
                                          "  state \"b\" = %3\n  return %4\n"),
            "v1 = self.b\nv1[4:8] = x\nv3 = torch.mul(v1, v1)\n"
            "v4 = torch.ops.aten.sum.dim_IntList(v3, [1], False, dtype=None)\nself.b.copy_(v3)\n");
  EXPECT_NE(
      forward(std::string(kWrite) + "  %3 = mul(%2, %2) : f32[32,8]\n  state \"b\" = %3\n  return %2\n").find(kCopied),
      std::string::npos)
      << "whoever gets the one in between";
}

// Two buffers that change places.
TEST(Written, OfBuffersThatGetEachOthersValueNoneIs) {
  const std::string text = forward(
      "  %2 = buffer \"c\" : f32[32,8]\n  %3 = slice_scatter(%1, %0, dim=0, start=4, end=8) : f32[32,8]\n"
      "  %4 = slice_scatter(%2, %0, dim=0, start=4, end=8) : f32[32,8]\n  %5 = sum(%4, dim=[1]) : f32[32]\n"
      "  state \"b\" = %4\n  state \"c\" = %3\n  return %5\n");
  EXPECT_NE(text.find("v3 = torch.slice_scatter(v1"), std::string::npos) << text;
  EXPECT_NE(text.find("v4 = torch.slice_scatter(v2"), std::string::npos) << text;
}

TEST(Written, OurOwnKernelsReadBeforeAndAfterwards) {
  Program program = parsed(std::string(kWrite) + "  %3 = exp(%2) : f32[32,8]\n" + kState + "  return %3\n");
  program.kernels[1].family = Family::pointwise;
  const std::vector<Launch> launches = {{"k1", {2}, {3}, "run({2}, {3})", "", 0}};
  EXPECT_EQ(written(program, launches, {}).writes.size(), 1u);
  program.kernels[1].values = {2, 3};  // it makes the new content for itself, of the old one
  const std::vector<Launch> again = {{"k1", {0, 1}, {3}, "run({0}, {1}, {3})", "", 0}};
  EXPECT_EQ(written(program, again, {}).writes.size(), 0u);
}

TEST(Written, WhatIsMadeOnceStaysAsItIs) {
  const Program program = parsed(
      "  %2 = full(shape=[32,8], value=0.0, dtype=f32) : f32[32,8]\n"
      "  %3 = slice_scatter(%2, %0, dim=0, start=4, end=8) : f32[32,8]\n"
      "  %4 = exp(%3) : f32[32,8]\n  return %4\n");
  EXPECT_EQ(written(program, {}, {2}).writes.size(), 0u);
  EXPECT_EQ(written(program, {}, {}).writes.size(), 1u);
}

}  // namespace
}  // namespace mtmc
