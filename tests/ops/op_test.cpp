#include "ops/op.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/aten.h"

namespace mtmc {
namespace {

TensorType f32(Shape shape) { return {DType::f32, std::move(shape)}; }

std::string refused(std::string_view op, std::vector<std::optional<TensorType>> operands, const Attrs& attrs) {
  const auto types = find_op(op)->infer({op, std::move(operands), attrs});
  return types.ok() ? "accepted" : types.error().message();
}

TEST(Ops, BuildsATypedGraphThatSurvivesItsText) {
  Program program;
  program.name = "mlp";
  const ValueId x = add_leaf(program, ValueKind::input, "x", f32({4, 8}));
  const ValueId w = add_leaf(program, ValueKind::param, "fc.weight", f32({16, 8}));
  const auto y = add_node(program, "linear", {x, w}, {}, "mlp.py:3");
  ASSERT_TRUE(y.ok()) << y.error().message();
  const auto z = add_node(program, "max_dim", {(*y)[0]}, {{"dim", int64_t(-1)}});
  ASSERT_TRUE(z.ok()) << z.error().message();
  program.outputs = *z;
  reset_kernels(program);
  EXPECT_TRUE(verify(program).ok());
  EXPECT_TRUE(verify_types(program).ok());
  EXPECT_EQ(program.value((*z)[1]).type, (TensorType{DType::i64, {4}}));
  const auto again = parse_program(print(program));
  ASSERT_TRUE(again.ok()) << again.error().message();
  EXPECT_EQ(*again, program);

  program.value((*z)[0]).type = f32({5});
  EXPECT_EQ(verify_types(program).error().message(), "checking %3: wrong type of max_dim: got f32[5], wanted f32[4]");
}

TEST(Ops, RefusalsSayWhatIsWrong) {
  EXPECT_EQ(refused("linear", {f32({4, 8}), f32({16, 9})}, {}),
            "linear: shapes do not fit: got f32[4,8] and weight f32[16,9], wanted a weight [out, in] with in = the "
            "input's last dimension");
  EXPECT_EQ(refused("add", {f32({4, 8}), f32({3, 8})}, {}),
            "add: shapes do not broadcast: got f32[3,8], wanted a shape that fits f32[4,8]");
  EXPECT_EQ(refused("softmax", {f32({4, 8})}, {{"dim", int64_t(2)}}),
            "softmax: dimension out of range: got 2, wanted -2 to 1");
  EXPECT_EQ(refused("reshape", {f32({4, 8})}, {{"shape", std::vector<int64_t>{3, -1}}}),
            "reshape: the shape has another number of elements: got f32[3,-1], wanted 32 elements");
  EXPECT_EQ(refused("cat", {f32({4, 8}), f32({4, 7})}, {}),
            "cat: shapes do not fit: got f32[4,7], wanted all but dimension 0 of f32[4,8]");
  EXPECT_EQ(refused("add", {f32({4})}, {}), "add: operand 1 is missing");
  EXPECT_EQ(refused("relu", {f32({4}), f32({4}), f32({4}), f32({4})}, {}),
            "relu: too many operands: got 4, wanted at most 1");
  EXPECT_EQ(refused("conv2d", {f32({1, 4, 8, 8}), f32({6, 3, 3, 3})}, {}),
            "conv2d: channels do not fit: got f32[1,4,8,8] and weight f32[6,3,3,3] in 1 groups, wanted weight for 4 "
            "input channels");
  EXPECT_EQ(refused("conv2d", {f32({1, 4, 2, 8}), f32({6, 4, 3, 3})}, {}),
            "conv2d: the window is larger than the padded input: got 3, wanted at most 2");
  EXPECT_EQ(refused("max_pool2d", {f32({1, 4, 8, 8})},
                    {{"kernel_size", std::vector<int64_t>{2}}, {"padding", std::vector<int64_t>{2}}}),
            "max_pool2d: padding is more than half the window: got 2, wanted at most 1");
  EXPECT_EQ(refused("layer_norm", {f32({4, 8})}, {{"normalized_shape", std::vector<int64_t>{4}}}),
            "layer_norm: normalized_shape is not the end of the input's shape: got f32[4], wanted the last dimensions "
            "of f32[4,8]");
  EXPECT_EQ(refused("group_norm", {f32({2, 6, 5})}, {{"num_groups", int64_t(4)}}),
            "group_norm: channels do not divide into groups: got 6, wanted a multiple of 4");
  EXPECT_EQ(refused("cross_entropy", {f32({4, 5}), TensorType{DType::i64, {3}}}, {}),
            "cross_entropy: targets of another shape: got i64[3], wanted i64[4]");
  EXPECT_EQ(refused("embedding", {f32({10, 4}), f32({3})}, {}),
            "embedding: indices must be integers: got f32[3], wanted i64");
  EXPECT_EQ(refused("amax", {f32({4, 0})}, {{"dim", int64_t(1)}}),
            "amax: nothing to reduce: got f32[4,0], wanted at least one element");
  EXPECT_EQ(refused("library", {}, {{"types", std::string("f32[2] f99[3]")}}),
            "library: not a type: got f99[3], wanted types such as f32[4,2] i64[4,2]");
}

TEST(Ops, ALibraryCallKeepsItsText) {
  const Attrs attrs = {{"call", std::string("aten.topk.default")},
                       {"args", std::string("{0}, 2, largest=False")},
                       {"types", std::string("f32[4,2] i64[4,2]")}};
  const OpCall call{"library", {f32({4, 8})}, attrs};
  EXPECT_EQ(find_op("library")->torch(call, std::vector<std::string>{"x"}),
            "torch.ops.aten.topk.default(x, 2, largest=False)");
  EXPECT_EQ(find_op("library")->infer(call)->at(1), (TensorType{DType::i64, {4, 2}}));
}

TEST(Ops, EvaluatesALinear) {
  const Attrs none;
  const OpCall call{"linear", {f32({64, 256}), f32({256, 256}), f32({256})}, none};
  const std::vector<double> x(64 * 256, 1.5), w(256 * 256, 0.5), b(256, 1.0);
  const std::vector<const std::vector<double>*> operands = {&x, &w, &b};
  const auto result = evaluate(find_op("linear")->define(call), operands, call.operands);
  EXPECT_EQ(result[0], std::vector<double>(64 * 256, 256 * 0.75 + 1));
}

TEST(Ops, EvaluatesAChain) {
  Program program;
  program.name = "chain";
  const ValueId x = add_leaf(program, ValueKind::input, "x", f32({2, 3}));
  const ValueId two = add_leaf(program, ValueKind::constant, "2.0", f32({}));
  const ValueId y = add_node(program, "mul", {x, two}, {}).value()[0];
  const ValueId z = add_node(program, "sum", {y}, {{"dim", int64_t(1)}}).value()[0];
  program.outputs = {z};
  const std::vector<std::vector<double>> leaves = {{1, 2, 3, 4, 5, 6}, {}};
  const auto result = evaluate(program, leaves);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ((*result)[0], (std::vector<double>{12, 30}));
}

// 2^72 in 64 bits.
TEST(Ops, IntegersWrapWhereTheyAreReduced) {
  Program program;
  program.name = "product";
  const ValueId x = add_leaf(program, ValueKind::input, "x", {DType::i64, {3}});
  program.outputs = add_node(program, "prod", {x}, {}).value();
  const std::vector<std::vector<double>> leaves = {{0x1p24, 0x1p24, 0x1p24}};
  EXPECT_EQ(evaluate(program, leaves).value()[0], std::vector<double>{0});
}

TEST(Ops, WorkComesFromTheDefinition) {
  const Attrs none;
  const Work linear = work_of({"linear", {f32({64, 512}), f32({256, 512}), f32({256})}, none});
  EXPECT_EQ(linear.contraction_flops, 2.0 * 64 * 512 * 256);
  EXPECT_EQ(linear.bytes, 4.0 * (64 * 512 + 256 * 512 + 256 + 64 * 256));
  const Work relu = work_of({"relu", {f32({1000})}, none});
  EXPECT_EQ(relu.flops, 1000);
  EXPECT_EQ(relu.special, 0);
  EXPECT_EQ(relu.bytes, 8000);
  EXPECT_GT(work_of({"exp", {f32({1000})}, none}).special, 0);
  const Attrs shape = {{"shape", std::vector<int64_t>{10, 100}}};
  EXPECT_EQ(work_of({"reshape", {f32({1000})}, shape}).bytes, 0);
}

TEST(Ops, ScalarsBecomeConstantsThatDoNotWiden) {
  Program program;
  const ValueId half = add_leaf(program, ValueKind::input, "x", {DType::f16, {4}});
  const ValueId whole = add_leaf(program, ValueKind::input, "i", {DType::i32, {4}});
  const auto import = [&](ValueId id, AtenArg other) {
    AtenCall call{"aten.add.Tensor", {{"self", TensorArg{id}}, {"other", other}}};
    return program.value(import_aten(program, call).value()[0]).type.dtype;
  };
  EXPECT_EQ(import(half, 0.1), DType::f16);
  EXPECT_EQ(import(half, int64_t(2)), DType::f16);
  EXPECT_EQ(import(whole, int64_t(2)), DType::i32);
  EXPECT_EQ(import(whole, 0.5), DType::f32);
  EXPECT_EQ(import(whole, true), DType::i32);

  AtenCall call{"aten.softmax.int", {{"self", TensorArg{half}}, {"dim", int64_t(0)}, {"what", true}}};
  EXPECT_EQ(import_aten(program, call).error().message(), "importing aten.softmax.int: no rule for argument: got what");
}

TEST(Ops, EveryOperatorSaysWhatItDoes) {
  for (const OpDef* def : all_ops()) {
    EXPECT_TRUE(def->doc.ends_with('.')) << def->name;
    EXPECT_TRUE(def->spell != nullptr || !def->spelling.empty()) << def->name;
    EXPECT_TRUE(def->infer != nullptr) << def->name;
  }
}

}  // namespace
}  // namespace mtmc
