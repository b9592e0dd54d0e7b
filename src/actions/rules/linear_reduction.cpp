// A sum or mean over the output features of a linear operator is linear itself: reduce the weights first.
#include "actions/rewrite.h"
#include "ops/op.h"

namespace mtmc {
namespace {

std::optional<Edit> match(const Program& program, const Node& root) {
  if ((root.op != "sum" && root.op != "mean") || !plain(root) || !along_last(program, root)) return std::nullopt;
  const ValueId inner = root.inputs[0];
  const Node* linear = made_by(program, inner, "linear");
  const Node* product = linear ? linear : made_by(program, inner, "matmul");
  if (!product || !is_float(program.value(inner).type.dtype)) return std::nullopt;
  const ValueId x = product->inputs[0], weight = product->inputs[1];
  if (program.value(weight).type.rank() != 2) return std::nullopt;
  const ValueId bias = linear && linear->inputs.size() > 2 ? linear->inputs[2] : kNoValue;
  const int64_t features = program.value(inner).type.shape.back();
  return Edit{{inner, root.outputs[0]},
              [x, weight, bias, over = int64_t{linear ? 0 : 1}, mean = root.op == "mean",
               keep = root.attrs.flag("keepdim"), features](Program& p) -> Result<ValueId> {
                const auto reduce = [&](ValueId what, int64_t dim) {
                  return add_node(p, mean ? "mean" : "sum", {what}, {{"dim", std::vector<int64_t>{dim}}});
                };
                MTMC_CHECK(features > 0, "a product without features");
                MTMC_TRY(const auto weights, reduce(weight, over));
                MTMC_TRY(auto result, add_node(p, "matmul", {x, weights[0]}, {}));
                if (bias != kNoValue) {
                  MTMC_TRY(const auto biases, reduce(bias, 0));
                  MTMC_TRY(result, add_node(p, "add", {result[0], biases[0]}, {}));
                }
                if (keep) {
                  MTMC_TRY(result, add_node(p, "unsqueeze", {result[0]}, {{"dim", int64_t{-1}}}));
                }
                return result[0];
              }};
}

}  // namespace

namespace rules {
extern const Rule linear_reduction_def;
const Rule linear_reduction_def{"linear_reduction", "A sum over the features of a linear operator.",
                                "sum(x @ W + b)  becomes  x @ sum(W) + sum(b)", match};
}  // namespace rules

}  // namespace mtmc
