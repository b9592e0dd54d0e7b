// What changes nothing: neutral elements, casts to the same type, transposing twice, reshaping twice.
#include "actions/rewrite.h"
#include "ops/op.h"

namespace mtmc {
namespace {

Edit same_as(const Node& root, ValueId value) {
  return {{root.outputs[0]}, [value](Program&) -> Result<ValueId> { return value; }};
}

std::optional<Edit> neutral(const Program& program, const Node& root) {
  const bool product = root.op == "mul" || root.op == "div", sum = root.op == "add" || root.op == "sub";
  if (!product && !sum) return std::nullopt;
  const auto operands = tensor_and_scalar(program, root);
  if (!operands || operands->second != (product ? 1.0 : 0.0)) return std::nullopt;
  const bool one_sided = root.op == "div" || root.op == "sub";
  if (one_sided && operands->first != root.inputs[0]) return std::nullopt;
  return same_as(root, operands->first);
}

std::optional<Edit> views(const Program& program, const Node& root) {
  const ValueId from = root.inputs[0];
  const Node* inner = made_by(program, from, root.op);
  if (root.op == "reshape" && inner)
    return Edit{{from, root.outputs[0]},
                [source = inner->inputs[0], attrs = root.attrs](Program& p) -> Result<ValueId> {
                  MTMC_TRY(const auto made, add_node(p, "reshape", {source}, attrs));
                  return made[0];
                }};
  if (root.op == "transpose" && inner) {
    const int rank = program.value(from).type.rank();
    const auto axes = [&](const Node& node) {
      const int64_t a = node.attrs.integer("dim0"), b = node.attrs.integer("dim1");
      return std::minmax<int64_t>({a < 0 ? a + rank : a, b < 0 ? b + rank : b});
    };
    if (axes(root) != axes(*inner)) return std::nullopt;
    return Edit{{from, root.outputs[0]}, [source = inner->inputs[0]](Program&) -> Result<ValueId> { return source; }};
  }
  return std::nullopt;
}

std::optional<Edit> match(const Program& program, const Node& root) {
  if (root.inputs.empty() || root.inputs[0] == kNoValue) return std::nullopt;
  const bool same_type = program.value(root.inputs[0]).type == program.value(root.outputs[0]).type;
  if (same_type && (root.op == "to" || root.op == "reshape")) return same_as(root, root.inputs[0]);
  if (auto edit = neutral(program, root)) return edit;
  return views(program, root);
}

}  // namespace

namespace rules {
extern const Rule identity_def;
const Rule identity_def{"identity", "Operations that change nothing.", "x * 1, x + 0, x.T.T  becomes  x", match};
}  // namespace rules

}  // namespace mtmc
