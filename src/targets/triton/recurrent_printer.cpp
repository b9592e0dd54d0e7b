#include "targets/triton/recurrent_printer.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "ops/op.h"
#include "ops/recurrence.h"
#include "targets/frame.h"
#include "targets/triton/recurrent_text.h"
#include "targets/triton/tile.h"

namespace mtmc {
namespace {

constexpr int64_t kMostOffset = (1LL << 31) - 1;  // offsets are 32 bits wide
constexpr int kWarps = 8;

// Programs that are surely resident at once: one on each multiprocessor, but for a few.
int64_t most_programs(const Hardware& hardware) { return hardware.cores - hardware.cores / 32; }

// Bytes of weights and exchanged tiles that one of them has.
int64_t most_shared(const Hardware& hardware) { return hardware.shared_bytes - (7 << 10); }

// How the work is cut. A slice is `units` units of one layer and direction: `columns` columns of weights, the sums of
// a unit side by side.
struct Plan {
  int64_t rows = 16, columns = 0, sums = 0, units = 0, slices = 0;
  int64_t input_depth = 0, state_depth = 0;  // of the products, as powers of two
  int64_t per_layer = 0, wave = 0;           // programs a layer; layers at work at once
};

Result<Plan> plan_of(const Recurrence& r, const std::string& doing, const Hardware& hardware) {
  const int64_t most = most_programs(hardware);
  Plan plan;
  plan.rows = triton::power_of_two(std::max<int64_t>(16, r.batch));
  plan.sums = triton::power_of_two(static_cast<int64_t>(r.sums.size()));
  plan.input_depth = triton::power_of_two(std::max<int64_t>({16, r.inputs, r.layers > 1 ? r.inputs_of(1) : 0}));
  plan.state_depth = triton::power_of_two(std::max<int64_t>(16, r.hidden));
  if (plan.sums > 4) return Error{doing, "too many sums a unit", std::to_string(r.sums.size()), "at most 4"};
  if (plan.rows > 64) return Error{doing, "the batch is too large", std::to_string(r.batch), "at most 64"};
  const int64_t size = r.steps * r.batch * std::max(r.inputs, r.directions * r.hidden * r.layers);
  if (size > kMostOffset) return Error{doing, "the sequence is too long", std::to_string(size) + " elements", "2^31"};
  // The narrowest slices that still let every layer work at once; else the widest that fit.
  bool found = false;
  for (const int64_t columns : {16, 32, 64}) {
    Plan next = plan;
    next.columns = columns;
    next.units = columns / plan.sums;
    next.slices = (r.hidden + next.units - 1) / next.units;
    next.per_layer = r.directions * next.slices;
    // Layers of two directions follow each other: each needs the whole sequence of the one below.
    next.wave = r.directions > 1 ? 1 : std::min<int64_t>(r.layers, most / next.per_layer);
    const int64_t depth = std::max(plan.input_depth, plan.state_depth);
    const int64_t shared = 4 * ((plan.input_depth + plan.state_depth) * columns + plan.rows * (depth + 2 * columns));
    if (next.per_layer > most || shared > most_shared(hardware)) continue;
    if (columns == 16 && r.hidden > 32) continue;  // half the warps would idle
    plan = next;
    found = true;
    if (next.wave == r.layers || (r.directions > 1 && columns >= 32)) break;
  }
  if (!found)
    return Error{doing, "the weights do not fit into " + std::to_string(most) + " resident programs",
                 std::to_string(r.hidden) + " hidden units of " + std::to_string(r.inputs_of(r.layers > 1)) + " inputs",
                 "about 512 and 512 at most"};
  return plan;
}

// A tensor outside the kernel as the recurrence reads it, through the views that the kernel took in: base + strides.
struct Source {
  ValueId value = kNoValue;  // none: zeros
  int64_t base = 0;
  std::vector<int64_t> strides;
};

class Printer {
 public:
  Printer(const Program& program, const Kernel& kernel, const Node& node)
      : program_(program),
        node_(node),
        inside_(kernel.values.begin(), kernel.values.end()),
        r_(find_op(node.op)->recurrence(call_of(program, node))),
        doing_("printing " + kernel.name + " for triton"),
        name_(kernel.name + "_" + node.op) {}

  Result<TritonKernel> run(const Hardware& hardware) {
    if (r_.dtype != DType::f32) return Error{doing_, "another type", std::string(mtmc::name(r_.dtype)), "f32"};
    MTMC_TRY(plan_, plan_of(r_, doing_, hardware));
    MTMC_TRY(input_, source_of(0));
    for (int i = 0; i < r_.states(); ++i) {
      MTMC_TRY(Source start, plain_source(1 + i));
      starts_.push_back(std::move(start));
    }
    for (int i = 1 + r_.states(); i < static_cast<int>(node_.inputs.size()); ++i) {
      MTMC_TRY(const Source weight, plain_source(i));
      if (weight.value == kNoValue) return Error{doing_, "a weight made in the kernel", node_.op, "a parameter"};
      weights_.push_back(weight.value);
    }
    if (input_.value == kNoValue) return Error{doing_, "an input made in the kernel", node_.op, "a tensor"};
    MTMC_TRY(const std::string cell, recurrent_cell_text(r_, name_, doing_));
    TritonKernel result;
    add_read(result, input_.value);
    for (const Source& start : starts_) add_read(result, start.value);
    for (const ValueId weight : weights_) add_read(result, weight);
    result.writes = node_.outputs;
    result.text = fill(kRecurrentKernel, cell);
    std::vector<std::string> arguments;
    for (const auto* list : {&result.reads, &result.writes})
      for (const ValueId id : *list) arguments.push_back("{" + std::to_string(id) + "}");
    result.calls = {name_ + "(" + join(arguments, ", ") + ")"};
    return result;
  }

 private:
  // The element of operand `which` at the operand's axes.
  Result<Source> source_of(int which) const {
    const TensorType& type = program_.value(node_.inputs[which]).type;
    std::vector<ExprP> at;
    for (int i = 0; i < type.rank(); ++i) at.push_back(axis(i));
    ValueId id = node_.inputs[which];
    while (inside_.count(id) > 0) {
      const Node& producer = *program_.producer(id);
      const Definition definition = find_op(producer.op)->define(call_of(program_, producer));
      const ExprP body = simplify(substitute_axes(definition.stages[0].body, at), type.shape);
      if (is_constant(body) && body->number == 0 && body->integer == 0) return Source{};
      if (definition.stages.size() != 1 || body->kind != Expr::Kind::load || body->guard)
        return Error{doing_, "an operand that is computed", producer.op, "a view of a tensor, or zeros"};
      at = body->args;
      id = producer.inputs[body->tensor];
    }
    const mtmc::Value& value = program_.value(id);
    if (value.storage != value.type.dtype || !value.layout.empty())
      return Error{doing_, "an operand in another layout or precision", "%" + std::to_string(id), "row-major f32"};
    ExprP flat = index_constant(0);
    const auto strides = contiguous_strides(value.type.shape);
    for (size_t i = 0; i < at.size(); ++i) flat = flat + at[i] * index_constant(strides[i]);
    const Affine found = affine(simplify(flat, type.shape), type.rank());
    if (!found.ok) return Error{doing_, "an operand under indices that are not affine", "%" + std::to_string(id), {}};
    return Source{id, found.base, found.coefficients};
  }

  // The same where only a row-major tensor, or zeros, will do.
  Result<Source> plain_source(int which) const {
    MTMC_TRY(const Source source, source_of(which));
    const Shape& shape = program_.value(node_.inputs[which]).type.shape;
    const auto strides = contiguous_strides(shape);
    bool plain = source.value == kNoValue || source.base == 0;
    for (size_t i = 0; i < shape.size() && source.value != kNoValue; ++i)
      plain = plain && (shape[i] == 1 || source.strides[i] == strides[i]);
    if (!plain) return Error{doing_, "a state or weight that is not row-major", std::to_string(which), {}};
    return source;
  }

  static void add_read(TritonKernel& kernel, ValueId id) {
    if (id != kNoValue && std::find(kernel.reads.begin(), kernel.reads.end(), id) == kernel.reads.end())
      kernel.reads.push_back(id);
  }

  static std::string text(int64_t number) { return std::to_string(number); }
  static std::string tensor(ValueId id) { return "t" + std::to_string(id); }

  // One weight operand chosen by layer and direction.
  std::string choose() const {
    static const std::vector<std::string> kNames = {"input_weight", "state_weight", "input_bias", "state_bias"};
    const int each = r_.biases ? 4 : 2;
    std::string lines;
    for (int which = 0; which < r_.layers * r_.directions; ++which) {
      const std::string margin = which == 0 ? "        " : "            ";
      if (which > 0) lines += "        if which == " + std::to_string(which) + ":\n";
      for (int w = 0; w < each; ++w)
        lines += margin + kNames[static_cast<size_t>(w)] + " = " +
                 tensor(weights_[static_cast<size_t>(which * each + w)]) + "\n";
    }
    return lines;
  }

  // A state of the slice before the first step of this launch.
  std::string opening() const {
    std::string lines;
    for (int i = 0; i < r_.states(); ++i) {
      const std::string state = "state" + std::to_string(i), final_state = "final" + std::to_string(i);
      const ValueId start = starts_[static_cast<size_t>(i)].value;
      const std::string from = "start" + std::to_string(i);
      lines += "        " + from + " = " + (start == kNoValue ? final_state : tensor(start)) + "\n";
      if (start != kNoValue) lines += "        if begin > 0:\n            " + from + " = " + final_state + "\n";
      lines += "        " + state + " = tl.load(" + from + " + place, mask=here" +
               (start == kNoValue ? " & (n[:, None] < begin * " + text(r_.batch) + ")" : "") + ", other=0.0)\n";
    }
    return lines;
  }

  std::string closing() const {
    std::string lines;
    for (int i = 0; i < r_.states(); ++i)
      lines += "        tl.store(final" + std::to_string(i) + " + place, state" + std::to_string(i) + ", mask=here)\n";
    return lines;
  }

  // Waiting for what the layer below made of this time: in every direction.
  std::string wait_below() const {
    std::string lines;
    for (int d = 0; d < r_.directions; ++d)
      lines += "                " + name_ + "_wait(ready + ((layer - 1) * " + text(r_.directions) + " + " + text(d) +
               ") * " + text(r_.steps) + " + time, " + text(plan_.slices) + ")\n";
    return lines;
  }

  std::string bias() const {
    if (!r_.biases) return "tl.zeros([" + text(plan_.columns) + "], tl.float32)";
    return "tl.load(input_bias + row, mask=of_input, other=0.0) + tl.load(state_bias + row, mask=of_state, other=0.0)";
  }

  std::map<std::string, std::string> sizes() const {
    const int64_t wide = r_.directions * r_.hidden;
    const int time_axis = r_.batch_first ? 1 : 0;
    const auto& x = input_.strides;
    return {{"ROWS", text(plan_.rows)},
            {"COLUMNS", text(plan_.columns)},
            {"SUMS", text(plan_.sums)},
            {"UNITS", text(plan_.units)},
            {"SLICES", text(plan_.slices)},
            {"INPUT_DEPTH", text(plan_.input_depth)},
            {"STATE_DEPTH", text(plan_.state_depth)},
            {"PER_LAYER", text(plan_.per_layer)},
            {"WAVE", text(plan_.wave)},
            {"PROGRAMS", text(plan_.wave * plan_.per_layer)},
            {"WARPS", text(kWarps)},
            {"LAYERS", text(r_.layers)},
            {"DIRECTIONS", text(r_.directions)},
            {"STEPS", text(r_.steps)},
            {"BATCH", text(r_.batch)},
            {"INPUTS", text(r_.inputs)},
            {"HIDDEN", text(r_.hidden)},
            {"WIDE", text(wide)},
            {"SIZE", text(r_.steps * r_.batch * wide)},
            {"COUNTERS", text(r_.layers * r_.directions * r_.steps)},
            {"BETWEEN", text(std::max<int64_t>(1, (r_.layers - 1) * r_.steps * r_.batch * wide))},
            {"X", tensor(input_.value)},
            {"X_BASE", text(input_.base)},
            {"X_TIME", text(x[static_cast<size_t>(time_axis)])},
            {"X_ROW", text(x[static_cast<size_t>(1 - time_axis)])},
            {"X_STEP", text(x[2])},
            {"Y_TIME", text(r_.batch_first ? wide : r_.batch * wide)},
            {"Y_ROW", text(r_.batch_first ? r_.steps * wide : wide)},
            {"START", starts_[0].value == kNoValue ? "y" : tensor(starts_[0].value)},
            {"FROM_START", starts_[0].value == kNoValue ? "(n[:, None] < step * " + text(r_.batch) + ") & " : ""}};
  }

  std::string fill(std::string_view form, const std::string& cell) const {
    std::vector<std::string> reads, finals;
    TritonKernel distinct;
    add_read(distinct, input_.value);
    for (const Source& start : starts_) add_read(distinct, start.value);
    for (const ValueId weight : weights_) add_read(distinct, weight);
    for (const ValueId id : distinct.reads) reads.push_back(tensor(id));
    for (int i = 0; i < r_.states(); ++i) finals.push_back("final" + std::to_string(i));
    auto words = sizes();
    words["NAME"] = name_;
    words["TENSORS"] = join(reads, ", ") + ", y, " + join(finals, ", ");
    words["CHOOSE"] = choose();
    words["OPENING"] = opening();
    words["CLOSING"] = closing();
    words["WAIT_BELOW"] = wait_below();
    words["BIAS"] = bias();
    words["GATE"] = recurrent_gate_text(r_);
    words["OF_INPUT"] = recurrent_part_text(r_, true);
    words["OF_STATE"] = recurrent_part_text(r_, false);
    words["CELL"] = cell;
    std::string made;
    for (size_t i = 0; i < form.size();) {
      if (form[i] != '`') {
        made += form[i++];
        continue;
      }
      const size_t end = form.find('`', i + 1);
      made += words.at(std::string(form.substr(i + 1, end - i - 1)));
      i = end + 1;
    }
    return made;
  }

  const Program& program_;
  const Node& node_;
  const std::set<ValueId> inside_;
  const Recurrence r_;
  const std::string doing_, name_;
  Plan plan_;
  Source input_;
  std::vector<Source> starts_;
  std::vector<ValueId> weights_;
};

}  // namespace

Result<TritonKernel> print_recurrent_kernel(const Program& program, const Kernel& kernel, const Hardware& hardware) {
  MTMC_CHECK(is_recurrent(program, kernel), kernel.name + " is no recurrence");
  for (const Node& node : program.nodes) {
    const bool own = std::find(kernel.values.begin(), kernel.values.end(), node.outputs[0]) != kernel.values.end();
    if (!own || !find_op(node.op)->recurrence) continue;
    for (const ValueId id : program.writes(kernel))
      if (std::find(node.outputs.begin(), node.outputs.end(), id) == node.outputs.end())
        return Error{"printing " + kernel.name + " for triton", "others need a view that the recurrence takes in",
                     "%" + std::to_string(id), "a kernel of its own for it"};
    return Printer(program, kernel, node).run(hardware);
  }
  return Error{"printing " + kernel.name, "no recurrence", "", ""};
}

}  // namespace mtmc
