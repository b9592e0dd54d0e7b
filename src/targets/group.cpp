#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "ops/op.h"
#include "targets/frame.h"

namespace mtmc {
namespace {

constexpr double kHeavy = 8;   // operations from which recomputing an element costs more than reading it from scratch
constexpr double kTile = 256;  // rows or columns of a product that share one evaluation of an operand

// A stage before inlining. Loads refer to values outside the group by id (>= 0) and to raw stages by stage_ref(i).
struct Raw {
  Stage stage;
  const Node* node = nullptr;
  ValueId value = kNoValue;  // the program's value it defines, or none for a stage inside a definition
  bool written = false;      // needed in memory
  bool kept = false;         // materialised, in memory or scratch
  bool live = false;
};

bool is_pure_axis(const ExprP& index) { return index->kind == Expr::Kind::axis; }

class GroupBuilder {
 public:
  GroupBuilder(const Program& program, const Kernel& kernel) : program_(program), kernel_(kernel) {}

  Result<Group> run() {
    MTMC_RETURN_IF_ERROR(collect());
    for (ValueId id : program_.writes(kernel_)) raws_[raw_of_.at(id)].written = true;
    for (size_t i = 0; i < raws_.size(); ++i) {
      inline_into(raws_[i]);
      decide(static_cast<int>(i));
    }
    mark_live();
    return assemble();
  }

 private:
  Status collect() {
    const std::set<ValueId> own(kernel_.values.begin(), kernel_.values.end());
    for (const Node& node : program_.nodes) {
      if (!own.count(node.outputs[0])) continue;
      const OpDef* op = find_op(node.op);
      if (!op || !op->define)
        return Error{"building kernel " + kernel_.name, node.op + " has no definition: it is a library call", "", ""};
      const OpCall call = call_of(program_, node);
      const Definition definition = op->define(call);
      const int base = static_cast<int>(raws_.size());
      for (const Stage& stage : definition.stages) {
        Raw raw;
        raw.stage = stage;
        raw.node = &node;
        raw.stage.body = transform_loads(stage.body, [&](const ExprP& e) -> ExprP {
          if (e->tensor < 0) return load(e->tensor - base, e->dtype, e->args, e->guard, e->other);
          const ValueId id = node.inputs[e->tensor];
          const auto inside = raw_of_.find(id);
          return load(inside == raw_of_.end() ? id : stage_ref(inside->second), e->dtype, e->args, e->guard, e->other);
        });
        raw.stage.body = with_numbers(raw.stage.body);
        raws_.push_back(std::move(raw));
      }
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        int which = base + definition.outputs[i];
        if (raws_[which].value != kNoValue) which = copy_of(which);
        raws_[which].value = node.outputs[i];
        raw_of_[node.outputs[i]] = which;
      }
    }
    return ok_status();
  }

  // Constant scalars as numbers in the text, where the other operand of simple arithmetic in f32 gives them their type:
  // by themselves numbers of Python are of other types.
  ExprP with_numbers(const ExprP& body) const {
    return transform(body, [&](const ExprP& e) -> ExprP {
      const bool simple = e->kind == Expr::Kind::call && e->dtype == DType::f32 && e->args.size() == 2 &&
                          (e->fn == Fn::add || e->fn == Fn::sub || e->fn == Fn::mul || e->fn == Fn::div);
      if (!simple) return e;
      const ExprP left = known(e->args[0]), right = known(e->args[1]);
      if (right && !left && !is_constant(e->args[0])) return call(e->fn, {e->args[0], right});
      if (left && !right && !is_constant(e->args[1])) return call(e->fn, {left, e->args[1]});
      return e;
    });
  }
  // The number that a load is of; null for any other expression.
  ExprP known(const ExprP& e) const {
    if (e->kind != Expr::Kind::load || e->tensor < 0 || e->guard || e->dtype != DType::f32) return nullptr;
    const Value& value = program_.value(e->tensor);
    if (value.kind != ValueKind::constant || value.type.elements() != 1) return nullptr;
    const auto numbers = literal(value);
    return numbers && std::isfinite((*numbers)[0]) ? constant(DType::f32, (*numbers)[0]) : nullptr;
  }

  // A second name for a stage that already defines a value.
  int copy_of(int which) {
    Raw copy = raws_[which];
    copy.stage.combine = Combine::none;
    copy.stage.reduce.clear();
    std::vector<ExprP> indices;
    for (int i = 0; i < copy.stage.rank(); ++i) indices.push_back(axis(i));
    copy.stage.body = load(stage_ref(which), copy.stage.type.dtype, indices);
    raws_.push_back(copy);
    return static_cast<int>(raws_.size()) - 1;
  }

  // Guards every load of an inlined body, so that nothing is read where the outer guard is false.
  static ExprP guarded(const ExprP& body, const ExprP& guard, const ExprP& other) {
    if (!guard) return body;
    if (body->kind == Expr::Kind::load && !body->guard)
      return load(body->tensor, body->dtype, body->args, guard, other);
    const ExprP safe = transform_loads(body, [&](const ExprP& e) -> ExprP {
      const ExprP both = e->guard ? call(Fn::logical_and, {guard, e->guard}) : guard;
      return load(e->tensor, e->dtype, e->args, both, e->other ? e->other : constant(e->dtype, 0));
    });
    return select(guard, safe, other);
  }

  void inline_into(Raw& raw) {
    const ExprP inlined = transform_loads(raw.stage.body, [&](const ExprP& e) -> ExprP {
      if (e->tensor >= 0) return e;
      const Raw& producer = raws_[-1 - e->tensor];
      if (producer.kept && !again(producer, *e)) return e;
      return guarded(substitute_axes(producer.stage.body, e->args), e->guard, e->other);
    });
    raw.stage.body = simplify(inlined, raw.stage.extents());
  }

  // Whether a kept stage is computed again where it is loaded: when that costs no more than loading it, or when the
  // load's indices would cost a shared axis.
  static bool again(const Raw& producer, const Expr& load) {
    if (!producer.written || producer.stage.combine != Combine::none || !cheap(producer)) return false;
    return loads_of(producer.stage.body).size() < 2 ||
           !std::all_of(load.args.begin(), load.args.end(), [](const ExprP& index) { return is_pure_axis(index); });
  }

  static bool cheap(const Raw& raw) { return operation_count(raw.stage.body) < kHeavy; }

  bool packs() const {
    const auto precision = kernel_.choices.find("precision");
    return precision != kernel_.choices.end() && precision->second != "ieee";
  }

  // Whether stage i interleaves the phases of its operator's sum (a transposed convolution) for a reduction: in their
  // places in memory its elements are runs, which phases are not.
  bool interleaves(int i) const {
    if (!packs()) return false;
    const auto loads = loads_of(raws_[i].stage.body);
    const bool phases = std::any_of(loads.begin(), loads.end(), [&](const Expr* e) {
      if (e->tensor >= 0) return false;
      const Raw& sum = raws_[-1 - e->tensor];
      return sum.stage.combine == Combine::sum && sum.node == raws_[i].node &&
             std::any_of(e->args.begin(), e->args.end(),
                         [](const ExprP& index) { return index->kind == Expr::Kind::call && index->fn == Fn::mod; });
    });
    return phases && std::any_of(raws_.begin() + i + 1, raws_.end(), [&](const Raw& consumer) {
             const auto read = loads_of(consumer.stage.body);
             return consumer.stage.combine != Combine::none &&
                    std::any_of(read.begin(), read.end(), [&](const Expr* e) { return e->tensor == stage_ref(i); });
           });
  }

  // Whether an index moves with results and with what is summed for each: a window.
  static bool slides(const Stage& stage, const ExprP& index) {
    const std::vector<int64_t> extents = stage.extents();
    bool spatial = false, reduced = false;
    for (int a = 0; a < static_cast<int>(extents.size()); ++a)
      if (extents[a] > 1 && uses_axis(index, a)) (a < stage.rank() ? spatial : reduced) = true;
    return spatial && reduced;
  }

  // Whether a convolution slides over what stage i computes, and multiplies it in half precision: it will be copied for
  // that, once, if it is a tensor, and every window would be copied apart if it is not.
  bool in_windows(int i) const {
    if (!packs() || raws_[i].stage.body->kind == Expr::Kind::load)
      return false;  // a view: of another stage's, or of memory
    return std::any_of(raws_.begin() + i + 1, raws_.end(), [&](const Raw& consumer) {
      const Stage& stage = consumer.stage;
      if (stage.combine != Combine::sum || !is_product(stage)) return false;
      const std::vector<const Expr*> loads = loads_of(stage.body);
      return std::any_of(loads.begin(), loads.end(), [&](const Expr* e) {
        return e->tensor == stage_ref(i) &&
               std::any_of(e->args.begin(), e->args.end(), [&](const ExprP& index) { return slides(stage, index); });
      });
    });
  }
  static bool is_product(const Stage& stage) {
    return stage.body->kind == Expr::Kind::call && stage.body->fn == Fn::mul;
  }

  // Whether stage i divides what an attention summed by the sum of its weights: the last step of the launch that keeps
  // both on the chip, and of none that comes behind.
  bool normalises(int i) const {
    bool context = false, weights = false;
    for (const Expr* e : loads_of(raws_[i].stage.body)) {
      if (e->tensor >= 0) continue;
      const Raw& sum = raws_[-1 - e->tensor];
      if (sum.node != raws_[i].node || sum.stage.combine != Combine::sum) return false;
      (classify_contraction(sum.stage) ? context : weights) = true;
    }
    return context && weights;
  }

  // Whether stage i is materialised: reductions and written values always; a costly pointwise one when it would be
  // evaluated again and again.
  void decide(int i) {
    Raw& raw = raws_[i];
    raw.kept = raw.written || raw.stage.combine != Combine::none || in_windows(i) || interleaves(i) || normalises(i);
    if (raw.kept || cheap(raw)) return;
    // What GPUs multiply as it is, they compute for each tile of the other operand.
    const bool half = kernel_.choices.contains("precision") && is_half(raw.stage.type.dtype);
    int uses = 0;
    double evaluations = 0;
    for (size_t j = i + 1; j < raws_.size(); ++j) {
      const Stage& consumer = raws_[j].stage;
      const bool packed = consumer.combine == Combine::sum && is_product(consumer);
      int here = 0;
      for (const Expr* e : loads_of(consumer.body)) {
        if (e->tensor != stage_ref(i)) continue;
        ++here;
        for (const ExprP& index : e->args)
          if (!is_pure_axis(index) && !is_constant(simplify(index, consumer.extents())) &&
              !(packed && half && !slides(consumer, index)))
            return;  // would cost the shared axis: recompute instead
      }
      if (here == 0) continue;
      ++uses;
      const double each = static_cast<double>(product(consumer.extents())) /
                          static_cast<double>(std::max<int64_t>(1, raw.stage.type.elements()));
      evaluations += !packed ? each : half ? std::max(1.0, each / kTile) : 1;
    }
    raw.kept = uses > 1 || evaluations >= 2;
  }

  void mark_live() {
    for (size_t i = raws_.size(); i-- > 0;) {
      Raw& raw = raws_[i];
      raw.live |= raw.written;
      if (!raw.live) continue;
      for (const Expr* e : loads_of(raw.stage.body))
        if (e->tensor < 0) raws_[-1 - e->tensor].live = true;
    }
  }

  static std::string identifier(const std::string& text) {
    std::string result;
    for (char c : text) result += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    if (result.empty() || std::isdigit(static_cast<unsigned char>(result[0]))) result = "v" + result;
    return result;
  }

  std::string unique(std::string wanted) {
    static const std::set<std::string> kReserved = {
        "int",       "long",       "float",        "double",       "bool",      "char",      "short",      "auto",
        "const",     "for",        "if",           "else",         "return",    "do",        "new",        "delete",
        "this",      "default",    "case",         "switch",       "while",     "static",    "template",   "register",
        "and",       "or",         "not",          "xor",          "in",        "is",        "def",        "class",
        "lambda",    "None",       "True",         "False",        "torch",     "self",      "load",       "store",
        "full",      "W",          "unsigned",     "signed",       "void",      "operator",  "public",     "private",
        "tile",      "tl",         "min",          "max",          "exp",       "log",       "abs",        "sqrt",
        "pow",       "select",     "round",        "floor",        "ceil",      "erf",       "tanh",       "inf",
        "acc",       "total",      "all",          "partial",      "parts",     "one",       "best",       "carry",
        "scratch",   "vec",        "keep",         "each",         "sweep",     "splat",     "iota",       "choose",
        "query",     "key",        "weight",       "largest",      "part",      "triton",    "range",      "trunc",
        "expm1",     "log1p",      "compare",      "widen",        "erfc",      "sin",       "cos",        "tan",
        "asin",      "acos",       "atan",         "sinh",         "cosh",      "atan2",     "exp2",       "log2",
        "mask",      "hmax",       "hmin",         "hsum",         "hprod",     "hsum_int",  "narrow",     "reg",
        "convert",   "packs",      "std",          "packed_a",     "union",     "struct",    "enum",       "using",
        "inline",    "extern",     "export",       "true",         "false",     "nearbyint", "packed_b",   "prefetch",
        "namespace", "typename",   "virtual",      "floor_div",    "floor_mod", "load_mask", "load_where", "store_mask",
        "each_mask", "splat_mask", "load_strided", "store_strided"};
    wanted = identifier(wanted);
    // Loop variables are one of these letters, often with a number; what printers name has one always.
    static const std::set<std::string> kLoops = {"b", "e", "i", "j", "k", "l", "n", "p", "r", "u"},
                                       kNumbered = {"c", "final", "start", "state", "sum", "t", "tile", "to"};
    const size_t end = wanted.find_last_not_of("0123456789") + 1;
    const std::string base = wanted.substr(0, end);
    const bool taken = kLoops.count(base) > 0 || (end < wanted.size() && kNumbered.count(base) > 0);
    if (kReserved.count(wanted) > 0 || taken) wanted += "_";
    std::string result = wanted;
    for (int n = 2; !names_.insert(result).second; ++n) result = wanted + "_" + std::to_string(n);
    return result;
  }

  int add_tensor(Group& group, GroupTensor::Role role, ValueId value, const std::string& name, TensorType type) {
    GroupTensor tensor{role, value, unique(name), std::move(type), {}, false};
    tensor.strides = contiguous_strides(tensor.type.shape);
    if (role != GroupTensor::Role::scratch) {
      const Value& v = program_.value(value);
      tensor.type.dtype = v.storage;
      if (!v.layout.empty()) {
        int64_t stride = 1;
        for (size_t i = v.layout.size(); i-- > 0;) {
          tensor.strides[v.layout[i]] = stride;
          stride *= v.type.shape[v.layout[i]];
        }
      }
    }
    group.tensors.push_back(std::move(tensor));
    return static_cast<int>(group.tensors.size()) - 1;
  }

  static bool stands(const Raw& raw) { return raw.live && raw.kept; }

  Result<Group> assemble() {
    Group group;
    std::map<ValueId, int> reads;
    std::map<int, int> dest;  // raw -> tensor
    for (const Raw& raw : raws_)
      if (stands(raw))
        for (const Expr* e : loads_of(raw.stage.body))
          if (e->tensor >= 0) reads.emplace(e->tensor, 0);
    for (auto& [id, tensor] : reads) {
      const Value& value = program_.value(id);
      tensor = add_tensor(
          group, GroupTensor::Role::read, id,
          value.name.empty() || value.kind == ValueKind::constant ? "v" + std::to_string(id) : value.name, value.type);
    }
    for (const bool written : {true, false})
      for (size_t i = 0; i < raws_.size(); ++i) {
        const Raw& raw = raws_[i];
        if (!stands(raw) || raw.written != written) continue;
        const std::string base = raw.stage.name.empty() ? raw.node->op : raw.stage.name;
        dest[static_cast<int>(i)] =
            written ? add_tensor(group, GroupTensor::Role::write, raw.value, "out_" + base, raw.stage.type)
                    : add_tensor(group, GroupTensor::Role::scratch, raw.value, base, raw.stage.type);
      }
    for (size_t i = 0; i < raws_.size(); ++i)
      if (stands(raws_[i])) {
        group.stages.push_back(stage_of(raws_[i], group, reads, dest));
        group.stages.back().dest = dest.at(static_cast<int>(i));
      }
    group.name = group_name();
    if (group.stages.empty())
      return Error{"building kernel " + kernel_.name, "nothing outside it needs what it computes", "", ""};
    return group;
  }

  // The same stage over the group's tensors: what a program's values and other raw stages became.
  GroupStage stage_of(const Raw& raw, const Group& group, const std::map<ValueId, int>& reads,
                      const std::map<int, int>& dest) const {
    GroupStage stage;
    stage.stage = raw.stage;
    stage.stage.body = transform_loads(raw.stage.body, [&](const ExprP& e) -> ExprP {
      const int tensor = e->tensor >= 0 ? reads.at(e->tensor) : dest.at(-1 - e->tensor);
      const DType stored = group.tensors[tensor].type.dtype;
      return cast(e->dtype, load(tensor, stored, e->args, e->guard, e->other ? cast(stored, e->other) : nullptr));
    });
    stage.op = raw.node->op;
    stage.location = raw.node->location;
    stage.contraction = classify_contraction(stage.stage);
    stage.tf32 = in_tf32(*raw.node);
    return stage;
  }

  // "k0_linear_gelu": at most four operators, one after another.
  std::string group_name() const {
    std::vector<std::string> ops;
    for (ValueId id : kernel_.values) {
      const std::string& op = program_.producer(id)->op;
      if (ops.size() < 4 && (ops.empty() || ops.back() != op)) ops.push_back(op);
    }
    std::string text = kernel_.name;
    for (const std::string& op : ops) text += "_" + identifier(op);
    return text;
  }

  const Program& program_;
  const Kernel& kernel_;
  std::vector<Raw> raws_;
  std::map<ValueId, int> raw_of_;
  std::set<std::string> names_;
};

}  // namespace

Result<Group> build_group(const Program& program, const Kernel& kernel) { return GroupBuilder(program, kernel).run(); }

std::optional<Contraction> classify_contraction(const Stage& stage) {
  if (stage.combine != Combine::sum || stage.reduce.empty()) return std::nullopt;
  const ExprP& body = stage.body;
  if (body->kind != Expr::Kind::call || body->fn != Fn::mul || body->dtype != DType::f32) return std::nullopt;
  Contraction result;
  result.left = body->args[0];
  result.right = body->args[1];
  if (loads_of(result.left).empty() || loads_of(result.right).empty()) return std::nullopt;
  const int axes = static_cast<int>(stage.extents().size());
  for (int a = 0; a < axes; ++a) {
    const bool left = uses_axis(result.left, a), right = uses_axis(result.right, a);
    if (a >= stage.rank()) {
      if (stage.extents()[a] > 1 && (!left || !right)) return std::nullopt;
      result.k.push_back(a);
    } else if (left && right) {
      result.batch.push_back(a);
    } else {
      (left ? result.m : right ? result.n : result.batch).push_back(a);
    }
  }
  if (result.m.empty() || result.n.empty()) return std::nullopt;
  return result;
}

}  // namespace mtmc
