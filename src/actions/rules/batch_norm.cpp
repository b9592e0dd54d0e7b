// Batch norm in eval mode behind a convolution or a linear layer scales its weights: computed at every call from the
// weights as they are then, so that new weights count.
#include "actions/rewrite.h"
#include "base/text.h"
#include "ops/op.h"

namespace mtmc {
namespace {

std::optional<Edit> match(const Program& program, const Node& root) {
  if (root.op != "batch_norm" || root.inputs.size() < 5) return std::nullopt;
  const Node* layer = nullptr;
  for (const char* op : {"conv1d", "conv2d", "conv3d", "linear"})
    if (const Node* node = made_by(program, root.inputs[0], op)) layer = node;
  if (!layer || program.users(root.inputs[0]).size() != 1) return std::nullopt;
  if (layer->op == "linear" && program.value(root.inputs[0]).type.rank() != 2) return std::nullopt;
  return Edit{{root.inputs[0], root.outputs[0]}, [layer = *layer, norm = root](Program& p) -> Result<ValueId> {
                const ValueId weight = layer.inputs[1], gamma = norm.inputs[1], beta = norm.inputs[2];
                const ValueId bias = layer.inputs.size() > 2 ? layer.inputs[2] : kNoValue;
                const ValueId eps =
                    add_leaf(p, ValueKind::constant, format_double(norm.attrs.number("eps", 1e-5)), {DType::f32, {}});
                MTMC_TRY(auto scale, add_node(p, "add", {norm.inputs[4], eps}, {}));
                MTMC_TRY(scale, add_node(p, "rsqrt", {scale[0]}, {}));
                if (gamma != kNoValue) {
                  MTMC_TRY(scale, add_node(p, "mul", {scale[0], gamma}, {}));
                }
                std::vector<int64_t> column(p.value(weight).type.shape.size(), 1);
                column[0] = -1;
                MTMC_TRY(const auto wide, add_node(p, "reshape", {scale[0]}, {{"shape", column}}));
                MTMC_TRY(const auto weights, add_node(p, "mul", {weight, wide[0]}, {}));
                ValueId moved = norm.inputs[3];
                if (bias != kNoValue) {
                  MTMC_TRY(const auto centred, add_node(p, "sub", {moved, bias}, {}));
                  moved = centred[0];
                }
                MTMC_TRY(auto shift, add_node(p, "mul", {moved, scale[0]}, {}));
                if (beta != kNoValue) {
                  MTMC_TRY(shift, add_node(p, "sub", {beta, shift[0]}, {}));
                } else {
                  MTMC_TRY(shift, add_node(p, "neg", {shift[0]}, {}));
                }
                MTMC_TRY(const auto made, add_node(p, layer.op, {layer.inputs[0], weights[0], shift[0]}, layer.attrs));
                return made[0];
              }};
}

}  // namespace

namespace rules {
extern const Rule batch_norm_def;
const Rule batch_norm_def{"batch_norm", "Batch norm in eval mode behind a convolution or linear layer.",
                          "batch_norm(conv(x, W))  becomes  conv(x, W * s, b) with s, b from the running statistics",
                          match};
}  // namespace rules

}  // namespace mtmc
