// Rows of a table added up bag by bag, where every bag has as many.
#include "ops/aten.h"
#include "ops/build.h"

namespace mtmc {
namespace {

constexpr int64_t kSum = 0, kMean = 1;  // torch's numbers of its modes

bool averages(const OpCall& call) { return call.attrs.integer("mode", kSum) == kMean; }

// The row that counts for nothing; -1: none.
int64_t padding_of(const OpCall& call) {
  const int64_t row = call.attrs.integer("padding_idx", -1);
  return row < 0 && call.attrs.has("padding_idx") ? row + call.type(0).shape[0] : row;
}

Result<std::vector<TensorType>> infer_bags(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 2, 3));
  const TensorType &table = call.type(0), &rows = call.type(1);
  if (table.rank() != 2 || !is_float(table.dtype))
    return refusal(call, "the table must be a matrix of floating point numbers", to_string(table));
  if (rows.rank() != 1 || (rows.dtype != DType::i64 && rows.dtype != DType::i32))
    return refusal(call, "indices must be a vector of integers", to_string(rows), "i64");
  const int64_t each = call.attrs.integer("bag"), mode = call.attrs.integer("mode", kSum);
  if (each < 1 || rows.shape[0] % each != 0)
    return refusal(call, "bags that differ", std::to_string(each), "a divisor of " + std::to_string(rows.shape[0]));
  if (mode != kSum && mode != kMean) return refusal(call, "another mode", std::to_string(mode), "0 or 1: sum or mean");
  if (call.has(2) && (call.type(2) != TensorType{table.dtype, rows.shape} || averages(call)))
    return refusal(call, "weights that do not fit", to_string(call.type(2)), "one of a sum's indices each");
  return std::vector<TensorType>{{table.dtype, {rows.shape[0] / each, table.shape[1]}}};
}

Definition define_bags(const OpCall& call) {
  const TensorType out = infer_bags(call).value()[0];
  const DType inner = compute_type(out.dtype);
  const int64_t each = call.attrs.integer("bag"), padding = padding_of(call);
  const ExprP at = axis(0) * index_constant(each), row = index_operand(call, 1, {at + axis(2)});
  const auto counts = [&](const ExprP& index, const ExprP& value) {
    return padding < 0 ? value : select(fn(Fn::ne, index, index_constant(padding)), value, number(inner, 0));
  };
  ExprP element = operand(call, 0, {row, axis(1)});
  if (call.has(2)) element = element * operand(call, 2, {at + axis(2)});
  Builder b;
  const int sum = b.reduce("sum", {inner, out.shape}, {each}, Combine::sum, counts(row, element));
  if (!averages(call)) {
    b.output(sum, out.dtype);
    return b.done();
  }
  ExprP count = number(inner, static_cast<double>(each));
  if (padding >= 0) {
    const ExprP index = index_operand(call, 1, {at + axis(1)});
    const int counted =
        b.reduce("count", {inner, {out.shape[0]}}, {each}, Combine::sum, counts(index, number(inner, 1)));
    count = fn(Fn::max, b.at(counted, {axis(0)}), number(inner, 1));
  }
  b.output(b.map("mean", {inner, out.shape}, b.at(sum, spatial(2)) / count), out.dtype);
  return b.done();
}

// The numbers of a vector that the text of the program says; nullopt where it does not.
std::optional<std::vector<double>> numbers_of(const Program& program, ValueId id) {
  const Node* node = program.producer(id);
  if (!node) return literal(program.value(id));
  if (node->op != "arange") return std::nullopt;
  return evaluate(find_op("arange")->define(call_of(program, *node)), {}, {})[0];
}

// Where each bag begins is said by a vector: where the program knows it, and every bag has as many, that many is all
// there is to say.
bool of_equal_bags(AtenCall& call, const Program& program) {
  const TensorArg *offsets = call.get<TensorArg>("offsets"), *indices = call.get<TensorArg>("indices");
  if (!offsets || !indices) return false;
  auto begins = numbers_of(program, offsets->id);
  const auto count = static_cast<double>(program.value(indices->id).type.elements());
  if (!begins) return false;
  const bool* closed = call.get<bool>("include_last_offset");
  if (!closed || !*closed) begins->push_back(count);
  const double each = begins->size() > 1 ? (*begins)[1] : 0;
  for (size_t i = 0; i < begins->size(); ++i)
    if ((*begins)[i] != each * static_cast<double>(i)) return false;
  if (begins->back() != count) return false;
  for (const char* name : {"offsets", "include_last_offset", "sparse", "scale_grad_by_freq"}) call.args.erase(name);
  call.args["bag"] = static_cast<int64_t>(each);
  return true;
}

std::string spell_bags(const OpCall& call, std::span<const std::string> args) {
  const std::string rows = ", (-1, " + std::to_string(call.attrs.integer("bag")) + "))";
  std::string text = "F.embedding_bag(torch.reshape(" + args[1] + rows + ", " + args[0] + ", mode=\"" +
                     (averages(call) ? "mean" : "sum") + "\"";
  if (call.has(2)) text += ", per_sample_weights=torch.reshape(" + args[2] + rows;
  if (padding_of(call) >= 0) text += ", padding_idx=" + std::to_string(padding_of(call));
  return text + ")";
}

constexpr std::string_view kOperands = "weight indices per_sample_weights", kAttrs = "bag mode padding_idx";

}  // namespace

extern const OpFile embedding_bag_def = {
    {.name = "embedding_bag",
     .doc = "Sums or means of as many rows of a table each, by index.",
     .infer = infer_bags,
     .define = define_bags,
     .aten =
         {{.overload = "aten.embedding_bag.padding_idx",
           .operands = kOperands,
           .attrs = kAttrs,
           .known = of_equal_bags},
          {.overload = "aten.embedding_bag.default", .operands = kOperands, .attrs = kAttrs, .known = of_equal_bags}},
     .spell = spell_bags},
};

}  // namespace mtmc
