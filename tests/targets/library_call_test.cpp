#include "targets/library_call.h"

#include <gtest/gtest.h>

#include <map>

#include "ir/program.h"

namespace mtmc {
namespace {

// What is printed for the last operand of a call on `x`, i.e. the constant; "" where it stays a tensor.
std::string number_in(const std::string& call, const std::string& constant, const std::string& type,
                      const std::string& x = "f32[4,8]", const std::string& result = "f32[4,8]") {
  const auto program = parse_program("program t {\n  %0 = input \"x\" : " + x + "\n  %1 = input \"m\" : b1[4,8]\n" +
                                     "  %2 = constant \"" + constant + "\" : " + type + "\n  %3 = " + call + " : " +
                                     result + "\n  return %3\n}\nkernel k0 = { %3 } library\n");
  EXPECT_TRUE(program.ok()) << program.error().message();
  if (!program.ok()) return "";
  const Node& node = program->nodes[0];
  for (size_t i = 0; i + 1 < node.inputs.size(); ++i) EXPECT_FALSE(number_for(*program, node, i)) << i;
  return number_for(*program, node, node.inputs.size() - 1).value_or("");
}

TEST(LibraryCall, AConstantScalarIsANumber) {
  EXPECT_EQ(number_in("mul(%0, %2)", "2.5", "f32[]"), "2.5");
  EXPECT_EQ(number_in("mul(%0, %2)", "2", "f32[]"), "2.0");
  EXPECT_EQ(number_in("mul(%0, %2)", "2", "i64[]", "i64[4,8]", "i64[4,8]"), "2");
}

TEST(LibraryCall, WhereTorchTakesNoneOrAnotherKindItStaysATensor) {
  EXPECT_EQ(number_in("mul(%0, %2)", "2.0", "f32[]", "i64[4,8]"), "") << "the result is f32 by the tensor's type";
  EXPECT_EQ(number_in("mul(%0, %2)", "inf", "f32[]"), "");
  EXPECT_EQ(number_in("maximum(%0, %2)", "2.0", "f32[]"), "");
}

// A tensor there is read by the host: it waits for the GPU, and the call cannot be captured.
TEST(LibraryCall, AMaskIsFilledWithANumber) {
  EXPECT_EQ(number_in("masked_fill(%0, %1, %2)", "-1e+09", "f32[]"), "-1e+09");
  EXPECT_EQ(number_in("masked_fill(%0, %1, %2)", "-inf", "f32[]"), "float(\"-inf\")");
  EXPECT_EQ(number_in("masked_fill(%0, %1, %2)", "3", "i64[]", "i64[4,8]", "i64[4,8]"), "3");
}

// The tracer runs on the host, whatever the code is printed for.
TEST(LibraryCall, WithoutInputsATracedDeviceIsTheOneThatCodeIsPrintedFor) {
  const auto program = parse_program(
      "program t {\n  %0 = library(args=\"0.0, 1.0, 8, device=torch.device('cpu')\", call=\"aten.logspace.default\", "
      "types=\"f32[8]\") : f32[8]\n  return %0\n}\nkernel k0 = { %0 } library\n");
  ASSERT_TRUE(program.ok()) << program.error().message();
  EXPECT_EQ(library_call(*program, program->nodes[0], {}, false, "_DEVICE"),
            "torch.ops.aten.logspace.default(0.0, 1.0, 8, device=_DEVICE)");
}

}  // namespace
}  // namespace mtmc
