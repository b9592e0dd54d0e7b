// softmax and log_softmax written out, with or without the maximum taken off first.
#include "actions/rewrite.h"
#include "ops/op.h"

namespace mtmc {
namespace {

bool reduces(const Program& program, ValueId id, std::string_view op, ValueId what, std::optional<int> axis) {
  const Node* node = made_by(program, id, op);
  return node && node->inputs[0] == what && node->attrs.flag("keepdim") && plain(*node) &&
         single_axis(program, *node) == axis;
}

Edit replace(const Node& root, std::vector<ValueId> region, const char* op, ValueId x, int axis) {
  region.push_back(root.outputs[0]);
  return {std::move(region), [op, x, axis](Program& p) -> Result<ValueId> {
            MTMC_TRY(const auto made, add_node(p, op, {x}, {{"dim", int64_t{axis}}}));
            return made[0];
          }};
}

std::optional<Edit> quotient(const Program& program, const Node& root) {
  const Node* weights = made_by(program, root.inputs[0], "exp");
  const Node* total = made_by(program, root.inputs[1], "sum");
  if (!weights || !total) return std::nullopt;
  const auto axis = single_axis(program, *total);
  if (!axis || !reduces(program, root.inputs[1], "sum", root.inputs[0], axis)) return std::nullopt;
  std::vector<ValueId> region = {root.inputs[0], root.inputs[1]};
  ValueId x = weights->inputs[0];
  if (const Node* shifted = made_by(program, x, "sub"); shifted && plain(*shifted)) {
    const ValueId from = shifted->inputs[0], largest = shifted->inputs[1];
    if (reduces(program, largest, "amax", from, axis) || reduces(program, largest, "max_dim", from, axis)) {
      region.insert(region.end(), {x, largest});
      x = from;
    }
  }
  return replace(root, region, "softmax", x, *axis);
}

std::optional<Edit> match(const Program& program, const Node& root) {
  if (root.op == "div") return quotient(program, root);
  if (root.op == "log")
    if (const Node* inner = made_by(program, root.inputs[0], "softmax"); inner && plain(*inner))
      return replace(root, {root.inputs[0]}, "log_softmax", inner->inputs[0], *single_axis(program, *inner));
  if (root.op == "sub" && plain(root))
    if (const Node* total = made_by(program, root.inputs[1], "logsumexp"))
      if (const auto axis = single_axis(program, *total);
          axis && reduces(program, root.inputs[1], "logsumexp", root.inputs[0], axis))
        return replace(root, {root.inputs[1]}, "log_softmax", root.inputs[0], *axis);
  return std::nullopt;
}

}  // namespace

namespace rules {
extern const Rule softmax_def;
const Rule softmax_def{"softmax", "A softmax or log_softmax written out.",
                       "exp(x - max(x)) / sum(exp(x - max(x)))  becomes  softmax(x)", match};
}  // namespace rules

}  // namespace mtmc
