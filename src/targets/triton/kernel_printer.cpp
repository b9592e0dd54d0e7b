#include "targets/triton/kernel_printer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/text.h"
#include "targets/frame.h"
#include "targets/module_printer.h"

namespace mtmc {
namespace {

constexpr int64_t kFlatBlock = 1024;      // elements a program of a pointwise frame
constexpr int64_t kMostResident = 32768;  // elements of a row that stay in registers

std::string dtype_text(DType dtype) {
  switch (dtype) {
    case DType::b1: return "tl.int1";
    case DType::u8: return "tl.uint8";
    case DType::i8: return "tl.int8";
    case DType::i16: return "tl.int16";
    case DType::i32: return "tl.int32";
    case DType::i64: return "tl.int64";
    case DType::f16: return "tl.float16";
    case DType::bf16: return "tl.bfloat16";
    case DType::f32: return "tl.float32";
    case DType::f64: return "tl.float64";
  }
  return "";
}

int64_t power_of_two(int64_t n) {
  int64_t p = 1;
  while (p < n) p *= 2;
  return p;
}

// Thrown in this file only; print_triton_kernel turns it into an Error.
struct Unsupported {
  std::string what;
};

std::string function_of(Fn fn) {
  switch (fn) {
    case Fn::exp: return "tl.exp";
    case Fn::exp2: return "tl.exp2";
    case Fn::log: return "tl.log";
    case Fn::log2: return "tl.log2";
    case Fn::sqrt: return "tl.sqrt";
    case Fn::sin: return "tl.sin";
    case Fn::cos: return "tl.cos";
    case Fn::erf: return "tl.erf";
    case Fn::abs: return "tl.abs";
    case Fn::floor: return "tl.floor";
    case Fn::ceil: return "tl.ceil";
    default: throw Unsupported{"the function " + std::string(name(fn))};
  }
}

const char* sign_of(Fn fn) {
  switch (fn) {
    case Fn::add: return "+";
    case Fn::sub: return "-";
    case Fn::mul: return "*";
    case Fn::lt: return "<";
    case Fn::le: return "<=";
    case Fn::eq: return "==";
    case Fn::ne: return "!=";
    case Fn::gt: return ">";
    case Fn::ge: return ">=";
    case Fn::logical_and:
    case Fn::bit_and: return "&";
    case Fn::logical_or:
    case Fn::bit_or: return "|";
    case Fn::bit_xor: return "^";
    default: return nullptr;
  }
}

class FramePrinter {
 public:
  FramePrinter(const Group& group, const Frame& frame, std::string name)
      : group_(group), frame_(frame), name_(std::move(name)) {}

  std::string run() {
    flat_ = is_flat();
    int64_t shared = 1;
    for (const SharedAxis& axis : frame_.shared) shared *= axis.extent;
    if (flat_) {
      line("offset = tl.program_id(0).to(tl.int64) * " + std::to_string(kFlatBlock) + " + tl.arange(0, " +
           std::to_string(kFlatBlock) + ")");
      line("live = offset < " + std::to_string(shared));
      decode("offset", shared_extents(), "i");
      programs_ = (shared + kFlatBlock - 1) / kFlatBlock;
    } else {
      line("row = tl.program_id(0).to(tl.int64)");
      decode("row", shared_extents(), "i");
      programs_ = shared;
    }
    for (int s = frame_.first; s <= frame_.last; ++s) stage(s);
    return "@triton.jit\ndef " + name_ + "(" + join(used_, ", ") + "):\n" + join(lines_, "\n") + "\n";
  }
  int64_t programs() const { return programs_; }
  const std::vector<std::string>& used() const { return used_; }

 private:
  void line(const std::string& text) { lines_.push_back("    " + text); }

  std::vector<int64_t> shared_extents() const {
    std::vector<int64_t> extents;
    for (const SharedAxis& axis : frame_.shared) extents.push_back(axis.extent);
    return extents;
  }
  bool is_flat() const {
    for (int s = frame_.first; s <= frame_.last; ++s) {
      const Stage& stage = group_.stages[s].stage;
      if (stage.combine != Combine::none || stage.rank() == 0) return false;
      for (int a = 0; a < stage.rank(); ++a)
        if (stage.type.shape[a] > 1 && frame_.shared_of(s, a) < 0) return false;
    }
    return !frame_.shared.empty();
  }
  // prefix0, prefix1, ... = the multi-index of a flat position.
  void decode(const std::string& flat, const std::vector<int64_t>& extents, const std::string& prefix) {
    std::string rest = flat;
    for (size_t i = extents.size(); i-- > 0;) {
      const std::string extent = std::to_string(extents[i]);
      line(prefix + std::to_string(i) + " = " + (i == 0 ? rest : rest + " % " + extent));
      if (i > 0) {
        line(prefix + "_rest" + std::to_string(i) + " = " + rest + " // " + extent);
        rest = prefix + "_rest" + std::to_string(i);
      }
    }
  }

  // Axis variables of a stage; its inner (spatial and reduced) axes together are one block of lanes.
  struct Lanes {
    std::vector<std::string> axes;
    std::vector<int64_t> inner;
    std::string mask;  // empty: no lanes, or all live
    int64_t block = 1;
  };

  Lanes lanes_of(int s) {
    const Stage& stage = group_.stages[s].stage;
    const std::vector<int64_t> extents = stage.extents();
    Lanes lanes;
    std::vector<size_t> positions;
    for (size_t a = 0; a < extents.size(); ++a) {
      const int shared = static_cast<int>(a) < stage.rank() ? frame_.shared_of(s, static_cast<int>(a)) : -1;
      if (extents[a] == 1) {
        lanes.axes.push_back("0");
      } else if (shared >= 0) {
        lanes.axes.push_back("i" + std::to_string(shared));
      } else {
        positions.push_back(a);
        lanes.axes.push_back("");
        lanes.inner.push_back(extents[a]);
      }
    }
    if (flat_) {
      lanes.mask = "live";
      return lanes;
    }
    const int64_t count = product(lanes.inner);
    if (is_reduction(stage.combine) && stage.type.elements() > 1)
      for (size_t p : positions)
        if (static_cast<int>(p) < stage.rank()) throw Unsupported{"a reduction with inner axes left over"};
    if (count <= 1) return lanes;
    if (count > kMostResident) throw Unsupported{"rows of more than " + std::to_string(kMostResident) + " elements"};
    lanes.block = power_of_two(count);
    const std::string prefix = "j" + std::to_string(s) + "_";
    line(prefix + "lane = tl.arange(0, " + std::to_string(lanes.block) + ")");
    decode(prefix + "lane", lanes.inner, prefix);
    for (size_t i = 0; i < positions.size(); ++i) lanes.axes[positions[i]] = prefix + std::to_string(i);
    if (lanes.block != count) {
      lanes.mask = prefix + "live";
      line(lanes.mask + " = " + prefix + "lane < " + std::to_string(count));
    }
    return lanes;
  }

  void use(const std::string& tensor) {
    if (std::find(used_.begin(), used_.end(), tensor) == used_.end()) used_.push_back(tensor);
  }

  std::string both(const std::string& a, const std::string& b) const {
    return a.empty() ? b : b.empty() ? a : "(" + a + ") & (" + b + ")";
  }

  std::string address(int tensor, const std::vector<ExprP>& indices, const Lanes& lanes,
                      const std::vector<int64_t>& extents) {
    ExprP flat = index_constant(0);
    for (size_t d = 0; d < indices.size(); ++d)
      flat = flat + indices[d] * index_constant(group_.tensors[tensor].strides[d]);
    return text(simplify(flat, extents), lanes, extents);
  }

  bool varies_by_lane(const ExprP& index, const Lanes& lanes) const {
    bool varies = false;
    walk(index, [&](const Expr& e) {
      varies |= e.kind == Expr::Kind::axis && lanes.axes[e.axis] != "0" && (flat_ || lanes.axes[e.axis][0] == 'j');
    });
    return varies;
  }

  // A value of this frame kept in registers, when the load walks it lane for lane.
  std::optional<std::string> in_registers(const ExprP& e, const Lanes& lanes) const {
    const auto kept = registers_.find(e->tensor);
    if (kept == registers_.end()) return std::nullopt;
    if (e->guard) throw Unsupported{"a guarded read of a value in registers"};
    const int s = kept->second;
    std::vector<int64_t> inner;
    for (size_t d = 0; d < e->args.size(); ++d) {
      if (e->args[d]->kind != Expr::Kind::axis && !is_constant(e->args[d]))
        throw Unsupported{"a shifted read of a value in registers"};
      const Stage& stage = group_.stages[s].stage;
      if (stage.type.shape[d] > 1 && frame_.shared_of(s, static_cast<int>(d)) < 0) inner.push_back(stage.type.shape[d]);
    }
    if (!inner.empty() && inner != lanes.inner) throw Unsupported{"stages with different inner axes"};
    return group_.tensors[e->tensor].name + "_value";
  }

  std::string text(const ExprP& e, const Lanes& lanes, const std::vector<int64_t>& extents) {
    switch (e->kind) {
      case Expr::Kind::constant:
        if (is_float(e->dtype)) {
          if (std::isnan(e->number)) return "float(\"nan\")";
          if (std::isinf(e->number)) return e->number > 0 ? "float(\"inf\")" : "float(\"-inf\")";
          return format_double(e->number);
        }
        return e->dtype == DType::b1 ? (e->integer ? "True" : "False") : std::to_string(e->integer);
      case Expr::Kind::axis: return lanes.axes[e->axis];
      case Expr::Kind::cast: return "(" + text(e->args[0], lanes, extents) + ").to(" + dtype_text(e->dtype) + ")";
      case Expr::Kind::load: return load_text(e, lanes, extents);
      case Expr::Kind::call: return call_text(e, lanes, extents);
    }
    return {};
  }

  std::string load_text(const ExprP& e, const Lanes& lanes, const std::vector<int64_t>& extents) {
    if (const auto kept = in_registers(e, lanes)) return *kept;
    const GroupTensor& tensor = group_.tensors[e->tensor];
    use(tensor.name);
    const std::string guard = e->guard ? text(e->guard, lanes, extents) : "";
    // A scalar address takes no mask of lanes.
    const bool varies =
        std::any_of(e->args.begin(), e->args.end(), [&](const ExprP& index) { return varies_by_lane(index, lanes); });
    const std::string mask = varies ? both(lanes.mask, guard) : guard;
    std::string other = e->other ? text(e->other, lanes, extents) : "0";
    const std::string at = "tl.load(" + tensor.name + " + " + address(e->tensor, e->args, lanes, extents);
    return mask.empty() ? at + ")" : at + ", mask=" + mask + ", other=" + other + ")";
  }

  std::string call_text(const ExprP& e, const Lanes& lanes, const std::vector<int64_t>& extents) {
    std::vector<std::string> args;
    for (const ExprP& arg : e->args) args.push_back(text(arg, lanes, extents));
    const bool floating = is_float(e->args[0]->dtype);
    switch (e->fn) {
      case Fn::neg: return "(-" + args[0] + ")";
      case Fn::rsqrt: return "(1.0 / tl.sqrt(" + args[0] + "))";
      case Fn::isnan: return "(" + args[0] + " != " + args[0] + ")";
      case Fn::isinf: return "(tl.abs(" + args[0] + ") == float(\"inf\"))";
      case Fn::logical_not: return "(" + args[0] + " == 0)";
      case Fn::select: return "tl.where(" + join(args, ", ") + ")";
      case Fn::max: return "tl.maximum(" + join(args, ", ") + (floating ? ", propagate_nan=tl.PropagateNan.ALL)" : ")");
      case Fn::min: return "tl.minimum(" + join(args, ", ") + (floating ? ", propagate_nan=tl.PropagateNan.ALL)" : ")");
      // 1 - 2 / (e^2x + 1): exact at both ends, and within an ulp of one between.
      case Fn::tanh: return "(1.0 - 2.0 / (tl.exp(2.0 * " + args[0] + ") + 1.0))";
      case Fn::div: return "(" + args[0] + (floating ? " / " : " // ") + args[1] + ")";
      case Fn::mod:
        if (floating) throw Unsupported{"a remainder of floats"};
        return "(" + args[0] + " % " + args[1] + ")";
      default: break;
    }
    if (const char* sign = sign_of(e->fn)) return "(" + args[0] + " " + sign + " " + args[1] + ")";
    return function_of(e->fn) + "(" + join(args, ", ") + ")";
  }

  void stage(int s) {
    const GroupStage& one = group_.stages[s];
    const Stage& stage = one.stage;
    const GroupTensor& dest = group_.tensors[one.dest];
    line("# " + dest.name + ": " + one.op + (one.location.empty() ? "" : " (" + one.location + ")"));
    const Lanes lanes = lanes_of(s);
    const std::vector<int64_t> extents = stage.extents();
    std::string value = text(stage.body, lanes, extents);
    Lanes where = lanes;
    if (stage.combine != Combine::none) {
      value = reduced(stage, value, lanes);
      where.mask.clear();
    }
    const std::string kept = dest.name + "_value";
    line(kept + " = " + value);
    registers_[one.dest] = s;
    if (dest.role == GroupTensor::Role::scratch && !needed_later(one.dest)) return;
    use(dest.name);
    std::vector<ExprP> own;
    for (int a = 0; a < stage.rank(); ++a) own.push_back(axis(a));
    line("tl.store(" + dest.name + " + " + address(one.dest, own, where, extents) + ", " + kept +
         (where.mask.empty() ? "" : ", mask=" + where.mask) + ")");
  }

  static std::string reduced(const Stage& stage, const std::string& value, const Lanes& lanes) {
    if (lanes.block == 1) throw Unsupported{"a reduction of one element"};
    std::string function, neutral;
    switch (stage.combine) {
      case Combine::sum: function = "tl.sum", neutral = "0"; break;
      case Combine::max: function = "tl.max", neutral = "float(\"-inf\")"; break;
      case Combine::min: function = "tl.min", neutral = "float(\"inf\")"; break;
      default: throw Unsupported{"the reduction " + std::string(name(stage.combine))};
    }
    if (stage.combine != Combine::sum && !is_float(stage.type.dtype)) throw Unsupported{"max or min of integers"};
    return function + "(" +
           (lanes.mask.empty() ? value : "tl.where(" + lanes.mask + ", " + value + ", " + neutral + ")") + ", axis=0)";
  }

  bool needed_later(int tensor) const {
    for (size_t s = static_cast<size_t>(frame_.last) + 1; s < group_.stages.size(); ++s)
      for (const Expr* e : loads_of(group_.stages[s].stage.body))
        if (e->tensor == tensor) return true;
    return false;
  }

  const Group& group_;
  const Frame& frame_;
  std::string name_;
  bool flat_ = false;
  int64_t programs_ = 1;
  std::map<int, int> registers_;  // tensor -> stage
  std::vector<std::string> lines_, used_;
};

}  // namespace

Result<TritonKernel> print_triton_kernel(const Program& program, const Kernel& kernel) {
  MTMC_TRY(const Group original, build_group(program, kernel));
  for (const GroupStage& stage : original.stages)
    if (stage.contraction || is_scan(stage.stage.combine))
      return Error{"printing " + kernel.name + " for triton", "not a pointwise or reduction kernel", stage.op,
                   "the cpu target or a library call"};
  const Group group = collapse_axes(original);
  TritonKernel result;
  std::map<std::string, std::string> names;
  for (const GroupTensor& tensor : group.tensors) {
    if (tensor.role == GroupTensor::Role::read) result.reads.push_back(tensor.value);
    if (tensor.role == GroupTensor::Role::write) result.writes.push_back(tensor.value);
    names[tensor.name] =
        tensor.role == GroupTensor::Role::scratch ? "_" + tensor.name : "{" + std::to_string(tensor.value) + "}";
  }
  try {
    const std::vector<Frame> frames = build_frames(group);
    for (size_t f = 0; f < frames.size(); ++f) {
      const std::string name = frames.size() == 1 ? group.name : group.name + "_" + std::to_string(f);
      FramePrinter printer(group, frames[f], name);
      result.text += printer.run() + "\n\n";
      std::vector<std::string> arguments;
      for (const std::string& tensor : printer.used()) arguments.push_back(names.at(tensor));
      result.calls.push_back(name + "[(" + std::to_string(printer.programs()) + ",)](" + join(arguments, ", ") + ")");
      for (const GroupTensor& tensor : group.tensors) {
        if (tensor.role != GroupTensor::Role::scratch ||
            std::find(printer.used().begin(), printer.used().end(), tensor.name) == printer.used().end())
          continue;
        const std::string made = "_" + tensor.name + " = torch.empty(" + std::to_string(tensor.type.elements()) +
                                 ", dtype=" + torch_dtype(tensor.type.dtype) + ", device=_DEVICE)";
        if (std::find(result.scratch.begin(), result.scratch.end(), made) == result.scratch.end())
          result.scratch.push_back(made);
      }
    }
  } catch (const Unsupported& unsupported) {
    return Error{"printing " + kernel.name + " for triton", "not printable yet", unsupported.what, ""};
  }
  return result;
}

}  // namespace mtmc
