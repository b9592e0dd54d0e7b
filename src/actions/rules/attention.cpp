// Attention written out. Rows whose keys are all masked become 0 instead of NaN, as the operator defines it.
#include <cmath>

#include "actions/rewrite.h"
#include "ops/op.h"

namespace mtmc {
namespace {

struct Found {
  ValueId query = kNoValue, key_transposed = kNoValue, mask = kNoValue;
  bool hides = false;  // the mask is true where a key is hidden
  double scale = 1;
  std::vector<ValueId> region;
};

void peel_scale(const Program& program, ValueId& at, Found& found) {
  for (const char* op : {"mul", "div"})
    if (const Node* node = made_by(program, at, op)) {
      const auto parts = tensor_and_scalar(program, *node);
      if (!parts || parts->second == 0 || (node->op == "div" && parts->first != node->inputs[0])) continue;
      found.scale *= node->op == "mul" ? parts->second : 1 / parts->second;
      found.region.push_back(at);
      at = parts->first;
    }
}

void peel_mask(const Program& program, ValueId& at, Found& found) {
  const double nothing = -std::numeric_limits<double>::infinity();
  if (const Node* fill = made_by(program, at, "masked_fill"); fill && scalar_of(program, fill->inputs[2]) == nothing) {
    found.mask = fill->inputs[1];
    found.hides = true;
    found.region.push_back(at);
    at = fill->inputs[0];
  } else if (const Node* sum = made_by(program, at, "add"); sum && plain(*sum) && !tensor_and_scalar(program, *sum)) {
    found.mask = sum->inputs[1];
    found.region.push_back(at);
    at = sum->inputs[0];
  }
}

std::optional<Edit> match(const Program& program, const Node& root) {
  if (root.op != "matmul") return std::nullopt;
  const Node* weights = made_by(program, root.inputs[0], "softmax");
  if (!weights || !plain(*weights) || !along_last(program, *weights)) return std::nullopt;
  Found found;
  found.region = {root.outputs[0], root.inputs[0]};
  ValueId at = weights->inputs[0];
  peel_mask(program, at, found);
  peel_scale(program, at, found);
  const Node* scores = made_by(program, at, "matmul");
  if (!scores || program.value(at).type.rank() < 3) return std::nullopt;
  found.region.push_back(at);
  found.query = scores->inputs[0];
  peel_scale(program, found.query, found);
  found.key_transposed = scores->inputs[1];
  return Edit{
      found.region, [found, value = root.inputs[1]](Program& p) -> Result<ValueId> {
        const Attrs last_two{{"dim0", int64_t{-2}}, {"dim1", int64_t{-1}}};
        ValueId key = kNoValue, mask = found.mask;
        const Node* turned = made_by(p, found.key_transposed, "transpose");
        const auto is_last_two = [&](const Node& node) {
          const int64_t rank = p.value(node.outputs[0]).type.rank();
          const auto from_back = [&](int64_t axis) { return axis < 0 ? axis : axis - rank; };
          return from_back(node.attrs.integer("dim0")) + from_back(node.attrs.integer("dim1")) == -3;
        };
        if (turned && is_last_two(*turned)) {
          key = turned->inputs[0];
        } else {
          MTMC_TRY(const auto made, add_node(p, "transpose", {found.key_transposed}, last_two));
          key = made[0];
        }
        if (found.hides) {
          MTMC_TRY(const auto made, add_node(p, "logical_not", {mask}, {}));
          mask = made[0];
        }
        std::vector<ValueId> inputs = {found.query, key, value};
        if (mask != kNoValue) inputs.push_back(mask);
        MTMC_TRY(const auto made, add_node(p, "scaled_dot_product_attention", inputs, {{"scale", found.scale}}));
        return made[0];
      }};
}

}  // namespace

namespace rules {
extern const Rule attention_def;
const Rule attention_def{"attention", "Attention written out.",
                         "softmax(mask(q @ k.T * scale)) @ v  becomes  scaled_dot_product_attention(q, k, v)", match};
}  // namespace rules

}  // namespace mtmc
