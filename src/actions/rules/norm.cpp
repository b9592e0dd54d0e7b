// Layer norm and RMS norm of the last axis written out, with their weight and bias.
#include "actions/rewrite.h"
#include "ops/op.h"

namespace mtmc {
namespace {

struct Core {
  const char* op = "";
  ValueId x = kNoValue;
  double eps = 0;
  std::vector<ValueId> region;
};

bool is_square_of(const Program& program, ValueId id, ValueId x) {
  if (const Node* node = made_by(program, id, "pow_scalar"))
    return node->inputs[0] == x && node->attrs.number("exponent") == 2;
  if (const Node* node = made_by(program, id, "mul")) return node->inputs[0] == x && node->inputs[1] == x;
  const Node* node = made_by(program, id, "square");
  return node && node->inputs[0] == x;
}

// The operand of a mean over the last axis that keeps it.
const Node* row_mean(const Program& program, ValueId id) {
  const Node* node = made_by(program, id, "mean");
  return node && plain(*node) && node->attrs.flag("keepdim") && along_last(program, *node) ? node : nullptr;
}

// mean(d^2) of a value d, or the variance of what d was centred from.
bool is_second_moment(const Program& program, ValueId id, ValueId d, ValueId centred_from, Core& core) {
  core.region.push_back(id);
  if (const Node* mean = row_mean(program, id)) {
    core.region.push_back(mean->inputs[0]);
    return is_square_of(program, mean->inputs[0], d);
  }
  const Node* var = made_by(program, id, "var");
  return var && var->inputs[0] == centred_from && var->attrs.flag("keepdim") && var->attrs.has("correction") &&
         var->attrs.number("correction") == 0 && along_last(program, *var);
}

// d / sqrt(moment + eps) or d * rsqrt(moment + eps).
std::optional<Core> core_of(const Program& program, ValueId id) {
  const Node* root = id == kNoValue ? nullptr : program.producer(id);
  if (!root || (root->op != "div" && root->op != "mul")) return std::nullopt;
  const char* inverse = root->op == "div" ? "sqrt" : "rsqrt";
  for (const int side : {1, 0}) {
    if (side == 0 && root->op == "div") break;
    const Node* scale = made_by(program, root->inputs[side], inverse);
    const Node* sum = scale ? made_by(program, scale->inputs[0], "add") : nullptr;
    const auto parts = sum && plain(*sum) ? tensor_and_scalar(program, *sum) : std::nullopt;
    if (!parts) continue;
    Core core{"rms_norm", root->inputs[1 - side], parts->second, {id, root->inputs[side], scale->inputs[0]}};
    const ValueId d = core.x;
    ValueId from = kNoValue;
    const Node* shift = made_by(program, d, "sub");
    const Node* mean = shift && plain(*shift) ? row_mean(program, shift->inputs[1]) : nullptr;
    if (mean && mean->inputs[0] == shift->inputs[0]) {
      from = shift->inputs[0];
      core.op = "layer_norm";
      core.x = from;
      core.region.insert(core.region.end(), {d, shift->inputs[1]});
    }
    if (is_second_moment(program, parts->first, d, from, core)) return core;
  }
  return std::nullopt;
}

// The other operand when it is a vector as long as a row.
std::optional<ValueId> row_operand(const Program& program, const Node& node, int side) {
  const TensorType& out = program.value(node.outputs[0]).type;
  const TensorType& type = program.value(node.inputs[side]).type;
  if (out.rank() == 0 || type.shape != Shape{out.shape.back()} || type.dtype != out.dtype) return std::nullopt;
  return node.inputs[side];
}

std::optional<Edit> match(const Program& program, const Node& root) {
  ValueId at = root.outputs[0], weight = kNoValue, bias = kNoValue;
  std::vector<ValueId> region = {at};
  const auto peel = [&](const char* op, ValueId& parameter) {
    const Node* node = made_by(program, at, op);
    if (!node || !plain(*node) || core_of(program, at)) return;
    for (const int side : {1, 0})
      if (const auto vector = row_operand(program, *node, side)) {
        parameter = *vector;
        at = node->inputs[1 - side];
        region.push_back(at);
        return;
      }
  };
  peel("add", bias);
  peel("mul", weight);
  const auto core = core_of(program, at);
  if (!core || (bias != kNoValue && std::string_view(core->op) == "rms_norm")) return std::nullopt;
  const TensorType type = program.value(core->x).type;
  region.insert(region.end(), core->region.begin(), core->region.end());
  const bool rms = std::string_view(core->op) == "rms_norm";
  return Edit{region, [core = *core, type, weight, bias, rms](Program& p) -> Result<ValueId> {
                const Attrs attrs{{"normalized_shape", std::vector<int64_t>{type.shape.back()}}, {"eps", core.eps}};
                std::vector<ValueId> inputs = {core.x, weight};
                if (!rms) inputs.push_back(bias);
                while (inputs.back() == kNoValue) inputs.pop_back();
                MTMC_TRY(const auto made, add_node(p, core.op, inputs, attrs));
                return made[0];
              }};
}

}  // namespace

namespace rules {
extern const Rule norm_def;
const Rule norm_def{"norm", "Layer norm or RMS norm written out.",
                    "(x - mean(x)) / sqrt(mean((x - mean(x))^2) + eps) * w + b  becomes  layer_norm(x, w, b)", match};
}  // namespace rules

}  // namespace mtmc
