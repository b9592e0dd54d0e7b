#include "targets/written.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "ir/links.h"
#include "ops/build.h"
#include "targets/import_time.h"
#include "targets/lifetimes.h"

namespace mtmc {
namespace {

Indices simplified(Indices at, const Shape& shape) {
  for (ExprP& index : at) index = simplify(index, shape);
  return at;
}

// The indices into its operand of a view's elements.
Indices indices_of(const OpDef& view, const OpCall& call) {
  const ExprP body = view.define(call).stages[0].body;
  return body->kind == Expr::Kind::load ? body->args : Indices{};
}

// Has each element of a view a place of its own?
bool is_one_to_one(const OpDef& view, const Indices& at, const Shape& shape) {
  if (view.needs_order) return true;
  std::vector<bool> met(shape.size());
  for (const ExprP& index : at) {
    const Affine found = affine(index, static_cast<int>(shape.size()));
    const auto still = std::count(found.coefficients.begin(), found.coefficients.end(), 0);
    if (!found.ok || static_cast<size_t>(still) + 1 < shape.size()) return false;
    for (size_t i = 0; i < shape.size(); ++i) met[i] = met[i] || found.coefficients[i] != 0;
  }
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] > 1 && !met[i]) return false;
  return true;
}

// Whose elements a stage takes over, each by itself, at places that no data say: an operand's number, or nothing.
std::optional<size_t> moved(const Definition& definition, int number) {
  const Stage& stage = definition.stages[static_cast<size_t>(number)];
  const Expr& body = *stage.body;
  const auto reads = [](const ExprP& index) { return index->loads; };
  if (stage.combine != Combine::none || body.kind != Expr::Kind::load || body.guard ||
      std::any_of(body.args.begin(), body.args.end(), reads))
    return std::nullopt;
  return body.tensor < 0 ? moved(definition, -1 - body.tensor) : static_cast<size_t>(body.tensor);
}

// Can torch write where operand 0 lies what this node makes of it?
bool can_write(const Program& program, const Node& node) {
  const OpDef* op = find_op(node.op);
  if (!op || !op->write || node.outputs.size() != 1 || node.inputs[0] == kNoValue) return false;
  const Value &result = program.value(node.outputs[0]), &base = program.value(node.inputs[0]);
  const std::vector<std::string> names(node.inputs.size());
  return result.type == base.type && result.storage == base.storage && base.storage == base.type.dtype &&
         !op->write(call_of(program, node), names).empty();
}

// The operands in whose memory torch may leave a result, as far as the operator says.
std::vector<ValueId> may_share(const Program& program, const Node& node) {
  const OpDef* op = find_op(node.op);
  if (can_write(program, node) || (op && op->recurrence)) return {};
  if (!op || !op->define) return node.inputs;
  const Definition definition = op->define(call_of(program, node));
  std::vector<ValueId> found;
  for (int stage : definition.outputs)
    if (const auto operand = moved(definition, stage)) found.push_back(node.inputs[*operand]);
  return found;
}

// Where a value lies.
struct Place {
  // What it may share memory with, and how often that had been written when the value was made.
  std::map<ValueId, size_t> memory;
  ValueId root = kNoValue;  // its element at (axes) is that of the root at `at`; kNoValue: nobody knows
  Indices at;
  ValueId parent = kNoValue;  // what it is a view of, or what was written to make it
  bool in_order = false;      // its elements lie side by side where the root's do
  bool one_to_one = true;
};

// One walk through forward, in which `chosen` are written where they lie.
class Walk {
 public:
  Walk(const Program& program, const std::vector<Launch>& launches, const std::set<ValueId>& made,
       const std::set<const Node*>& chosen)
      : program_(program), links_(program), launches_(launches), made_(made), chosen_(chosen) {}

  // What must not be written, since somebody reads what lay there, or nothing.
  const Node* run() {
    for (const Value& value : program_.values)
      if (value.kind != ValueKind::result || made_.count(value.id)) fresh(value.id);
    for (const Kernel& kernel : program_.kernels) {
      if (runs_at_import(kernel, made_)) continue;
      if (kernel.family == Family::library) {
        for (const Node* node : links_.nodes(kernel.values)) step(*node);
      } else {
        for (const Launch& launch : launches_)
          if (launch.kernel == kernel.name) step(launch);
      }
      if (wrong_) return wrong_;
    }
    end();
    return wrong_;
  }
  Written result() && {
    std::erase_if(result_.in_order, [&](ValueId root) { return writes(root).empty(); });
    return std::move(result_);
  }

 private:
  struct Write {
    const Node* node;
    ValueId base;
  };

  const Place& place(ValueId id) const { return places_.at(id); }
  const Shape& shape(ValueId id) const { return program_.value(id).type.shape; }
  const std::vector<Write>& writes(ValueId root) { return writes_[root]; }
  bool is_exact(ValueId id) const { return place(id).root != kNoValue && !moved_.count(result_.home(id)); }

  void fresh(ValueId id) {
    const Shape& own = shape(id);
    const bool buffer = program_.value(id).kind == ValueKind::buffer;
    places_[id] = {{{id, 0}}, id, simplified(spatial(static_cast<int>(own.size())), own), kNoValue, buffer, true};
  }

  // A buffer whose end is another value, and results of our own.
  bool is_ours(ValueId root) const {
    const Value& value = program_.value(root);
    if (made_.count(root)) return false;
    if (value.kind == ValueKind::result) return true;
    return value.kind == ValueKind::buffer && !is_plain(value.name) && update_of(value.name) != nullptr;
  }
  const StateUpdate* update_of(const std::string& buffer) const {
    for (const StateUpdate& state : program_.states)
      if (state.name == buffer) return &state;
    return nullptr;
  }

  void read(ValueId id) {
    if (id == kNoValue) return;
    for (const auto& [root, version] : place(id).memory)
      if (!wrong_ && version < writes(root).size()) wrong_ = writes(root)[version].node;
  }

  void step(const Launch& launch) {
    for (ValueId id : named_by(program_, launch))
      if (places_.count(id)) read(id);
    for (ValueId id : launch.reads)
      if (program_.value(result_.home(id)).kind == ValueKind::result) moved_.insert(result_.home(id));  // .contiguous()
    for (ValueId id : launch.writes) fresh(id);
  }

  void step(const Node& node) {
    const OpDef* op = find_op(node.op);
    if (op && !op->part.empty() && lies_there(node, *op)) return;
    for (ValueId id : node.inputs) read(id);
    if (chosen_.count(&node)) return write(node);
    if (op && op->is_view) return view(node, *op);
    const std::vector<ValueId> sources = may_share(program_, node);
    for (ValueId id : node.outputs) {
      fresh(id);
      if (!sources.empty()) places_[id] = somewhere(sources);
    }
  }

  // Nobody knows where, but in no other memory than theirs.
  Place somewhere(const std::vector<ValueId>& sources) const {
    Place made{{}, kNoValue, {}, kNoValue, false, false};
    for (ValueId source : sources)
      if (source != kNoValue) made.memory.insert(place(source).memory.begin(), place(source).memory.end());
    return made;
  }

  // Where an element of the view, of this operand, lies in the operand's root.
  Indices through(const OpDef& view, const Node& node, const Shape& own) const {
    const Indices inside = indices_of(view, {view.name, {program_.value(node.inputs[0]).type}, node.attrs});
    Indices at = place(node.inputs[0]).at;
    for (ExprP& index : at) index = simplify(substitute_axes(index, inside), own);
    return at;
  }

  void view(const Node& node, const OpDef& op) {
    const ValueId of = node.inputs[0], id = node.outputs[0];
    const Place& operand = place(of);
    const Shape& own = shape(id);
    const Indices inside = indices_of(op, call_of(program_, node));
    Place made{operand.memory, kNoValue, {}, of, false, operand.one_to_one && is_one_to_one(op, inside, own)};
    if (is_exact(of) && (!op.needs_order || operand.in_order)) {
      made.root = operand.root;
      made.at = through(op, node, own);
      made.in_order = operand.in_order && made.one_to_one && (op.needs_order || is_run(inside, shape(of), own));
      if (op.needs_order) result_.in_order.insert(operand.root);
    }
    places_[id] = std::move(made);
  }

  // Do a view's elements lie side by side where its operand's do? Of one axis a part is taken, or one index, and those
  // before it have an extent of 1.
  static bool is_run(const Indices& inside, const Shape& of, const Shape& own) {
    size_t next = 0;
    bool whole = true;  // as far as now
    for (size_t i = 0; i < of.size(); ++i) {
      const Affine index = affine(inside[i], static_cast<int>(own.size()));
      if (!index.ok) return false;
      size_t which = own.size();
      for (size_t a = 0; a < own.size(); ++a)
        if (index.coefficients[a] != 0) which = a;
      const int64_t extent = which < own.size() ? own[which] : 1;
      if (extent > 1 && (which < next || index.coefficients[which] != 1)) return false;
      if (which < own.size()) next = which + 1;
      if (extent != of[i] && !whole) return false;
      whole = whole && extent == 1;
    }
    return true;
  }

  void write(const Node& node) {
    const ValueId base = node.inputs[0];
    const Place before = place(base);
    bool ours = before.one_to_one;
    for (const auto& [root, version] : before.memory) {
      ours = ours && is_ours(root);
      for (size_t i = 1; i < node.inputs.size(); ++i)
        ours = ours && (node.inputs[i] == kNoValue || !place(node.inputs[i]).memory.count(root));
    }
    if (!ours && !wrong_) wrong_ = &node;
    for (const auto& [root, version] : before.memory) writes_[root].push_back({&node, base});
    lies(node.outputs[0], base);
    result_.writes.insert(&node);
  }

  void lies(ValueId id, ValueId base) {
    Place made = place(base);
    for (auto& [root, version] : made.memory) version = writes(root).size();
    made.parent = base;
    places_[id] = std::move(made);
    result_.homes[id] = result_.home(base);
  }

  // Is operand 1 that very part of operand 0, written where it lies or as it was? Then operand 0 has it already.
  bool lies_there(const Node& node, const OpDef& op) {
    const ValueId base = node.inputs[0], part = node.inputs[1];
    const Place &whole = place(base), &own = place(part);
    if (!is_exact(base) || !is_exact(part) || whole.root != own.root) return false;
    const ValueId root = own.root;
    const Indices at = through(*find_op(op.part), node, shape(part));
    if (!same(at, own.at) || own.memory.at(root) != writes(root).size()) return false;
    for (size_t i = whole.memory.at(root); i < writes(root).size(); ++i)
      if (!is_inside(writes(root)[i].base, part)) return false;
    if (whole.memory.at(root) == writes(root).size()) {  // it stays as it is, and is another value to whoever has both
      if (!chosen_.count(&node) || !is_ours(root)) return false;
      writes_[root].push_back({&node, base});
    }
    lies(node.outputs[0], base);
    result_.there.insert(&node);
    return true;
  }
  static bool same(const Indices& a, const Indices& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), alike);
  }
  bool is_inside(ValueId id, ValueId part) const {
    for (; id != kNoValue; id = place(id).parent)
      if (place(id).root == place(part).root && shape(id) == shape(part) && same(place(id).at, place(part).at))
        return true;
    return false;
  }

  // What is left behind: results, and what buffers and plain attributes get.
  void end() {
    for (ValueId id : program_.outputs) read(id);
    for (const StateUpdate& state : program_.states) read(state.value);
    for (const auto& [root, all] : writes_)
      if (!all.empty() && !wrong_ && program_.value(root).kind == ValueKind::buffer) end_of(root, all[0].node);
  }

  void end_of(ValueId root, const Node* first) {
    const std::string& name = program_.value(root).name;
    const auto shares = [&](ValueId id) { return id != kNoValue && place(id).memory.count(root) > 0; };
    const ValueId last = update_of(name)->value;
    const bool whole = is_exact(last) && place(last).root == root && shape(last) == shape(root) &&
                       same(place(last).at, place(root).at);
    if (whole) result_.kept.insert(name);
    for (const StateUpdate& state : program_.states) {
      if (state.name == name ? !whole && shares(last) : !whole && shares(state.value)) wrong_ = first;
      if (whole && is_plain(state.name) && shares(state.value)) result_.shared.insert(state.value);
    }
    for (ValueId id : program_.outputs) {
      if (!shares(id)) continue;
      if (!whole) wrong_ = first;
      result_.shared.insert(id);
    }
  }

  const Program& program_;
  const Links links_;
  const std::vector<Launch>& launches_;
  const std::set<ValueId>& made_;
  const std::set<const Node*>& chosen_;
  std::map<ValueId, Place> places_;
  std::map<ValueId, std::vector<Write>> writes_;  // of a root, in their order
  std::set<ValueId> moved_;                       // homes whose names may be those of copies by now
  const Node* wrong_ = nullptr;
  Written result_;
};

}  // namespace

bool is_likely_written(const Program& program, const Node& node) {
  if (!can_write(program, node)) return false;
  const ValueId base = node.inputs[0];
  const auto is_it = [&](ValueId id) { return id == base; };
  bool after = false, read = std::any_of(program.outputs.begin(), program.outputs.end(), is_it);
  for (const Node& other : program.nodes) {
    read = read || (after && std::any_of(other.inputs.begin(), other.inputs.end(), is_it));
    after = after || &other == &node;
  }
  if (read) return false;
  ValueId root = base;
  for (const Node* of = program.producer(root); of && find_op(of->op)->is_view; of = program.producer(root))
    root = of->inputs[0];
  const Value& value = program.value(root);
  const auto ends = [&](const StateUpdate& state) { return state.name == value.name && !is_plain(state.name); };
  return value.kind == ValueKind::result ||
         (value.kind == ValueKind::buffer && std::any_of(program.states.begin(), program.states.end(), ends));
}

Written written(const Program& program, const std::vector<Launch>& launches, const std::set<ValueId>& made) {
  std::map<const Node*, int> printed;
  const Links links(program);
  for (const Kernel& kernel : program.kernels) {
    if (kernel.family != Family::library || runs_at_import(kernel, made)) continue;
    for (const Node* node : links.nodes(kernel.values))
      if (can_write(program, *node)) ++printed[node];
  }
  std::set<const Node*> chosen;
  for (const auto& [node, times] : printed)
    if (times == 1) chosen.insert(node);
  while (!chosen.empty()) {
    Walk walk(program, launches, made, chosen);
    const Node* wrong = walk.run();
    if (!wrong) return std::move(walk).result();
    chosen.erase(wrong);
  }
  return {};
}

}  // namespace mtmc
