// What is printed of a recurrence, and what is refused; whether it computes the right thing is tests/python's to say.
#include <gtest/gtest.h>

#include "base/text.h"
#include "ops/op.h"
#include "targets/frame.h"
#include "targets/target.h"
#include "targets/triton/recurrent_printer.h"

namespace mtmc {
namespace {

struct Sizes {
  int64_t steps = 7, batch = 3, inputs = 12, hidden = 20;
  int layers = 2;
  bool two_directions = false;
};

// y, h and c of an LSTM without biases over %0, the states zeros made in the kernel.
Program lstm(const Sizes& s) {
  Program program;
  program.name = "net";
  const int64_t directions = s.two_directions ? 2 : 1;
  const auto leaf = [&](std::string name, Shape shape) {
    return add_leaf(program, name == "x" ? ValueKind::input : ValueKind::param, name, {DType::f32, std::move(shape)});
  };
  const ValueId x = leaf("x", {s.batch, s.steps, s.inputs});
  std::vector<ValueId> inputs = {x, kNoValue, kNoValue};
  for (int i = 0; i < s.layers * directions; ++i) {
    inputs.push_back(leaf("w" + std::to_string(i), {4 * s.hidden, i < directions ? s.inputs : directions * s.hidden}));
    inputs.push_back(leaf("u" + std::to_string(i), {4 * s.hidden, s.hidden}));
  }
  const std::vector<int64_t> shape = {s.layers * directions, s.batch, s.hidden};
  for (int i = 1; i < 3; ++i) inputs[i] = add_node(program, "full", {}, {{"shape", shape}, {"value", 0.0}}).value()[0];
  inputs[0] = add_node(program, "transpose", {x}, {{"dim0", int64_t(0)}, {"dim1", int64_t(1)}}).value()[0];
  program.outputs = add_node(program, "lstm", inputs,
                             {{"has_biases", false},
                              {"num_layers", int64_t(s.layers)},
                              {"bidirectional", s.two_directions},
                              {"batch_first", false}})
                        .value();
  Kernel kernel;
  kernel.name = "k0";
  kernel.family = Family::recurrent;
  for (const Node& node : program.nodes)
    kernel.values.insert(kernel.values.end(), node.outputs.begin(), node.outputs.end());
  program.kernels = {kernel};
  MTMC_CHECK(verify(program).ok() && verify_types(program).ok(), print(program));
  return program;
}

std::string refused(const Sizes& sizes) {
  const Program program = lstm(sizes);
  const auto printed = print_recurrent_kernel(program, program.kernels[0], h200_hardware());
  return printed.ok() ? "printed" : printed.error().message();
}

TEST(Recurrent, IsOneLaunchOfAllLayers) {
  const Program program = lstm({});
  ASSERT_TRUE(is_recurrent(program, program.kernels[0]));
  const auto printed = print_recurrent_kernel(program, program.kernels[0], h200_hardware());
  ASSERT_TRUE(printed.ok()) << printed.error().message();
  EXPECT_EQ(printed->reads, (std::vector<ValueId>{0, 1, 2, 3, 4}));
  EXPECT_EQ(printed->writes, program.outputs);
  EXPECT_EQ(printed->calls, std::vector<std::string>{"k0_lstm({0}, {1}, {2}, {3}, {4}, {8}, {9}, {10})"});
  EXPECT_EQ(printed->text, print_recurrent_kernel(program, program.kernels[0], h200_hardware())->text);
  // The transposed input is read in place: time is x's axis 1.
  EXPECT_NE(printed->text.find("source_time = 12\n        source_row = 84\n"), std::string::npos) << printed->text;
  // Two layers at work at once, of five slices of four units each.
  EXPECT_NE(printed->text.find("k0_lstm_kernel[(10,)]"), std::string::npos) << printed->text;
  EXPECT_EQ(printed->text.find('`'), std::string::npos);
}

TEST(Recurrent, LayersOfTwoDirectionsFollowEachOther) {
  const Program program = lstm({.hidden = 64, .layers = 3, .two_directions = true});
  const auto printed = print_recurrent_kernel(program, program.kernels[0], h200_hardware());
  ASSERT_TRUE(printed.ok()) << printed.error().message();
  EXPECT_NE(printed->text.find("k0_lstm_kernel[(16,)]"), std::string::npos) << printed->text;
}

TEST(Recurrent, RefusesWhatDoesNotFitOnTheChip) {
  EXPECT_EQ(refused({.hidden = 512}), "printed");
  EXPECT_EQ(refused({.hidden = 2048}),
            "printing k0 for triton: the weights do not fit into 128 resident programs: got 2048 hidden units of 2048 "
            "inputs, wanted about 512 and 512 at most");
  EXPECT_EQ(refused({.batch = 100}), "printing k0 for triton: the batch is too large: got 100, wanted at most 64");
}

TEST(Recurrent, OtherTargetsRefuseIt) {
  const Program program = lstm({});
  EXPECT_TRUE(find_target("triton")->supports(program, program.kernels[0], h200_hardware()).ok());
  EXPECT_EQ(find_target("cpu")->supports(program, program.kernels[0], h200_hardware()).error().message(),
            "printing k0: a recurrence, which this target cannot print: wanted a library kernel");
}

TEST(Recurrent, NothingElseIsInItsKernel) {
  Program program = lstm({});
  const ValueId last = add_node(program, "relu", {program.outputs[0]}, {}).value()[0];
  program.kernels[0].values.push_back(last);
  EXPECT_FALSE(is_recurrent(program, program.kernels[0]));
  EXPECT_FALSE(family_of(program, program.kernels[0]).ok());
}

}  // namespace
}  // namespace mtmc
