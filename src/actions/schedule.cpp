#include "actions/schedule.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/text.h"
#include "ir/kernel_memo.h"
#include "ir/kernel_program.h"
#include "ir/value_set.h"
#include "ops/op.h"
#include "targets/frame.h"

namespace mtmc {

Error refuse(std::string_view type, std::string wrong, std::string got, std::string wanted) {
  return Error{"applying " + std::string(type), std::move(wrong), std::move(got), std::move(wanted)};
}

Result<Kernel*> kernel_of(std::string_view type, Program& program, const std::vector<ValueId>& region) {
  for (Kernel& kernel : program.kernels)
    if (kernel.values == region) return &kernel;
  std::vector<std::string> values;
  for (const ValueId id : region) values.push_back("%" + std::to_string(id));
  return refuse(type, "no kernel computes exactly this region", join(values, " "), "all values of one kernel");
}

bool is_view_kernel(const Links& links, const Kernel& kernel) {
  if (kernel.family != Family::library) return false;
  for (const Node* node : links.nodes(kernel.values)) {
    const OpDef* op = find_op(node->op);
    if (!op || !op->is_view) return false;
  }
  return true;
}

bool is_constant_kernel(const Links& links, const Kernel& kernel) {
  for (const Node* node : links.nodes(kernel.values))
    for (ValueId input : node->inputs)
      if (input != kNoValue) return false;
  return can_generate(links.program(), kernel.values).ok();
}

namespace {

// Nodes as text, with values by their place in it. `exact`: how values lie in memory, which operands are one, and the
// data of constants.
class KeyText {
 public:
  KeyText(const Links& links, bool exact) : links_(links), exact_(exact) {}

  void add(const std::vector<ValueId>& values) {
    for (const Node* node : links_.nodes(values)) {
      text_ += "\n" + node->op + "(";
      for (ValueId input : node->inputs) text_ += operand(input) + ",";
      text_ += attrs_text(node->attrs) + ")";
      for (ValueId output : node->outputs) {
        local_.emplace(output, local_.size());
        text_ += " " + type_of(output);
      }
    }
  }
  void add(const Kernel& kernel) {
    text_ += name(kernel.family);
    for (const auto& [choice, word] : kernel.choices) text_ += " " + choice + ":" + word;
  }
  void add(const std::string& word, ValueId id) { text_ += " " + word + " #" + std::to_string(local_.at(id)); }
  std::string take() { return std::move(text_); }

 private:
  std::string type_of(ValueId id) const {
    const Value& value = links_.program().value(id);
    if (!exact_) return to_string(value.type);
    return value.kind == ValueKind::constant ? type_text(value) + " " + value.name : type_text(value);
  }
  std::string operand(ValueId id) {
    if (id == kNoValue) return "none";
    if (const auto known = local_.find(id); known != local_.end()) return "#" + std::to_string(known->second);
    if (exact_) local_.emplace(id, local_.size());
    return type_of(id);
  }

  const Links& links_;
  bool exact_;
  std::string text_;
  std::unordered_map<ValueId, size_t> local_;
};

// Views and constants that feed the group join it: taken over when nobody else needs them, computed again otherwise.
void absorb_inputs(const Links& links, std::set<ValueId>& values) {
  std::vector<ValueId> pending(values.begin(), values.end());
  while (!pending.empty()) {
    const Node* node = links.producer(pending.back());
    pending.pop_back();
    if (node == nullptr) continue;
    for (ValueId input : node->inputs) {
      if (input == kNoValue || values.count(input)) continue;
      for (int maker : links.makers(input)) {
        const Kernel& kernel = links.program().kernels[static_cast<size_t>(maker)];
        if ((!is_view_kernel(links, kernel) && !is_constant_kernel(links, kernel)) ||
            !can_generate(links.program(), kernel.values).ok())
          continue;
        for (ValueId id : kernel.values)
          if (values.insert(id).second) pending.push_back(id);
      }
    }
  }
}

}  // namespace

std::string isomorphism_key(const Links& links, const Kernel& kernel) {
  KeyText text(links, false);
  text.add(kernel);
  text.add(kernel.values);
  for (ValueId id : kernel.name.empty() ? std::vector<ValueId>{} : links.writes(kernel)) text.add("writes", id);
  return text.take();
}

std::string exact_key(const Links& links, const std::vector<int>& kernels) {
  KeyText text(links, true);
  std::set<ValueId> values;
  for (int k : kernels) {
    const Kernel& kernel = links.program().kernels[static_cast<size_t>(k)];
    text.add(kernel);
    values.insert(kernel.values.begin(), kernel.values.end());
  }
  const std::vector<ValueId> asked(values.begin(), values.end());
  absorb_inputs(links, values);
  text.add(std::vector<ValueId>(values.begin(), values.end()));
  for (ValueId id : asked) text.add("asked", id);
  // Who else needs or makes a value decides what the merged kernel writes, and which of the absorbed ones stay.
  const auto among = [&](int k) { return std::find(kernels.begin(), kernels.end(), k) != kernels.end(); };
  for (ValueId id : values) {
    if (links.is_returned(id)) text.add("returned", id);
    for (int user : links.users(id)) {
      const auto& makers = links.makers(links.program().nodes[static_cast<size_t>(user)].outputs[0]);
      if (!std::all_of(makers.begin(), makers.end(), among)) text.add("needed", id);
    }
    if (links.makers(id).size() > 1)
      for (int maker : links.makers(id)) text.add(among(maker) ? "here" : "elsewhere", id);
  }
  return text.take();
}

std::vector<std::vector<const Kernel*>> isomorphism_classes(
    const Program& program, const std::function<bool(const Program&, const Kernel&)>& wanted) {
  const Links links(program);
  std::vector<std::vector<const Kernel*>> classes;
  std::unordered_map<std::string, size_t> seen;
  std::unordered_map<std::string, bool> answers;
  for (size_t k = 0; k < program.kernels.size(); ++k) {
    const Kernel& kernel = program.kernels[k];
    const auto [answer, unknown] = answers.emplace(exact_key(links, {static_cast<int>(k)}), false);
    if (unknown) answer->second = wanted(program, kernel);
    if (!answer->second) continue;
    const auto [at, fresh] = seen.emplace(isomorphism_key(links, kernel), classes.size());
    if (fresh) classes.emplace_back();
    classes[at->second].push_back(&kernel);
  }
  return classes;
}

std::vector<Action> one_per_class(const Program&, std::string_view type,
                                  const std::vector<std::vector<const Kernel*>>& classes, const std::string& detail) {
  std::vector<Action> actions;
  for (const auto& places : classes) {
    Action all{std::string(type), {}, detail};
    for (const Kernel* kernel : places) all.regions.push_back(kernel->values);
    if (places.size() > 1)
      for (const Kernel* kernel : places) actions.push_back({std::string(type), {kernel->values}, detail});
    actions.push_back(std::move(all));
  }
  return actions;
}

bool order_kernels(Program& program) {
  std::vector<Kernel> pending = program.kernels, ordered;
  ValueSet available(program);
  for (const Value& value : program.values)
    if (value.kind != ValueKind::result) available.insert(value.id);
  // Reads do not depend on the order; what is available after a kernel is everything it computes that another reads,
  // whoever writes it first.
  const std::vector<std::vector<ValueId>> reads = program.reads_of_all();
  std::vector<bool> done(pending.size(), false);
  for (size_t first = 0; ordered.size() < pending.size();) {
    size_t next = pending.size();
    while (done[first]) ++first;
    for (size_t i = first; i < pending.size() && next == pending.size(); ++i) {
      if (done[i]) continue;
      if (std::all_of(reads[i].begin(), reads[i].end(), [&](ValueId id) { return available.has(id); })) next = i;
    }
    if (next == pending.size()) return false;
    done[next] = true;
    available.insert_all(pending[next].values);
    ordered.push_back(std::move(pending[next]));
  }
  program.kernels = std::move(ordered);
  return true;
}

void carry_captures(const Program& before, Program& after, const ActionContext& context) {
  if (context.target.graphs && !before.captures.empty()) {
    after.captures = {{}};
    for (const Kernel& kernel : after.kernels) after.captures[0].push_back(kernel.name);
    return;
  }
  std::vector<std::vector<std::string>> kept;
  for (const auto& capture : before.captures) {
    Program trial = after;
    trial.captures = {capture};
    bool whole = verify(trial).ok();
    for (const std::string& name : capture) whole = whole && after.kernel(name)->family != Family::library;
    if (whole) kept.push_back(capture);
  }
  after.captures = std::move(kept);
}

namespace {

// The kernels (by position) that stay when `values` become one kernel: those outside it, and views and constants in it
// that one of these, or the caller, still needs and that do not hang on the group itself.
std::vector<bool> staying(const Program& program, const std::set<ValueId>& values, const std::set<ValueId>& asked) {
  std::vector<bool> stays(program.kernels.size(), false);
  ValueSet needed(program);
  needed.insert_all(program.outputs);
  for (const StateUpdate& state : program.states) needed.insert(state.value);
  const std::vector<std::vector<ValueId>> all_reads = program.reads_of_all();
  for (size_t k = program.kernels.size(); k-- > 0;) {
    const Kernel& kernel = program.kernels[k];
    const auto is = [&](const std::set<ValueId>& set) { return [&](ValueId id) { return set.count(id) > 0; }; };
    const std::vector<ValueId>& reads = all_reads[k];
    if (std::all_of(kernel.values.begin(), kernel.values.end(), is(values))) {
      if (asked.count(kernel.values[0]) > 0 || std::any_of(reads.begin(), reads.end(), is(asked))) continue;
      const auto is_needed = [&](ValueId id) { return needed.has(id); };
      if (std::none_of(kernel.values.begin(), kernel.values.end(), is_needed)) continue;
    }
    stays[k] = true;
    needed.insert_all(reads);
  }
  return stays;
}

// What a target made of a new kernel, or why it made nothing.
struct Settled {
  Kernel kernel;  // its name, family and choices
  Status status;

  // Another kernel that is alike is settled alike.
  Status as_before(Kernel& other) const {
    if (!status.ok()) return as_of(status.error(), kernel.name, other.name);
    other.family = kernel.family, other.choices = kernel.choices;
    return status;
  }
};

Status begin_kernel(const Program& program, Kernel& kernel, const ActionContext& context) {
  MTMC_TRY(kernel.family, family_of(program, kernel));
  if (kernel.family == Family::recurrent) return ok_status();
  MTMC_TRY(const Group group, build_group(program, kernel));
  context.target.initial_choices(group, context.hardware, kernel);
  return ok_status();
}

}  // namespace

void forget_numbers(Kernel& kernel, const TargetDef& target) {
  kernel.numbers.clear();
  for (const std::string_view word : target.measured) kernel.choices.erase(std::string(word));
}

Status settle_kernel(const Program& program, Kernel& kernel, const ActionContext& context) {
  static KernelMemo<Settled> memo;
  forget_numbers(kernel, context.target);
  const std::string key = std::string(context.target.name) + kernel_key(program, kernel, context.hardware);
  if (const auto known = memo.known(key)) return known->as_before(kernel);
  Status status = begin_kernel(program, kernel, context);
  if (status.ok()) status = context.target.supports(program, kernel, context.hardware);
  memo.keep(key, {Kernel{kernel.name, {}, kernel.family, kernel.choices, {}}, status});
  return status;
}

namespace {

// The way to multiply that somebody chose for a kernel since a less exact one was refused; empty: it has the one that
// it was born with. What is born is known.
std::string wished_precision(const Program& program, const Kernel& kernel, const ActionContext& context) {
  const auto word = kernel.choices.find("precision");
  if (word == kernel.choices.end() || (word->second != "two_part" && word->second != "ieee")) return "";
  Kernel born = kernel;
  born.choices.erase("precision");
  const bool same = settle_kernel(program, born, context).ok() && born.choices["precision"] == word->second;
  return same ? "" : word->second;
}

}  // namespace

Result<Program> merge_kernels(const Program& program, const std::vector<std::string>& names,
                              const ActionContext& context) {
  Program result = program;
  std::set<ValueId> values;
  for (const std::string& name : names) {
    const Kernel* kernel = program.kernel(name);
    MTMC_CHECK(kernel != nullptr, "no kernel " + name);
    values.insert(kernel->values.begin(), kernel->values.end());
  }
  // Views that these kernels compute again are not theirs to make.
  std::set<ValueId> asked = values;
  for (const Kernel& kernel : program.kernels)
    if (std::count(names.begin(), names.end(), kernel.name) == 0)
      for (ValueId id : kernel.values) asked.erase(id);
  absorb_inputs(Links(program), values);
  Kernel merged;
  merged.name = names.front();
  for (const Node& node : program.nodes)
    if (values.count(node.outputs[0]))
      merged.values.insert(merged.values.end(), node.outputs.begin(), node.outputs.end());
  MTMC_RETURN_IF_ERROR(can_generate(program, merged.values));
  const std::vector<bool> stays = staying(program, values, asked);
  std::vector<Kernel> kernels;
  std::string wished;  // the most exact way to multiply that is
  size_t place = 0;
  for (size_t k = 0; k < program.kernels.size(); ++k) {
    const Kernel& kernel = program.kernels[k];
    if (std::count(names.begin(), names.end(), kernel.name) > 0) {
      merged.choices.insert(kernel.choices.begin(), kernel.choices.end());
      merged.choices.erase("precision");
      const std::string word = wished_precision(program, kernel, context);
      if (wished.empty() || word == "ieee") wished = word;
      place = kernels.size();
    } else if (stays[k]) {
      kernels.push_back(kernel);
    }
  }
  kernels.insert(kernels.begin() + static_cast<std::ptrdiff_t>(place), merged);
  result.kernels = std::move(kernels);
  if (!order_kernels(result)) return refuse("fuse", "another kernel stands between them in the data flow");
  Kernel& placed = const_cast<Kernel&>(*result.kernel(merged.name));
  carry_captures(program, result, context);
  MTMC_RETURN_IF_ERROR(settle_kernel(result, placed, context));
  if (wished.empty() || !placed.has("precision")) return result;
  placed.choices["precision"] = wished;
  MTMC_RETURN_IF_ERROR(settle_kernel(result, placed, context));
  return result;
}

namespace {

Status may_choose(const Program& program, const Kernel& kernel, const ScheduleChoice& choice,
                  const ActionContext& context) {
  const Error same = refuse(choice.action, "the target prints the same code with it", kernel.name);
  if (kernel.family != Family::library && !context.target.reads(choice.key)) return same;
  MTMC_RETURN_IF_ERROR(choice.legal(program, kernel, context));
  Program alone = kernel_program(program, kernel);
  alone.kernels.front().numbers.clear();  // what is legal does not depend on how it was tuned
  if (!context.target.distinguishes(alone, {choice.key, choice.word}, context.hardware)) return same;
  return ok_status();
}

}  // namespace

std::vector<Action> enumerate_choice(const Program& program, const ScheduleChoice& choice,
                                     const ActionContext& context) {
  const auto wanted = [&](const Program& p, const Kernel& k) { return may_choose(p, k, choice, context).ok(); };
  return one_per_class(program, choice.action, isomorphism_classes(program, wanted), std::string(choice.word));
}

Result<Program> add_choice(const Program& program, const Action& action, const ScheduleChoice& choice,
                           const ActionContext& context) {
  Program result = program;
  for (const auto& region : action.regions) {
    MTMC_TRY(Kernel* const kernel, kernel_of(action.type, result, region));
    MTMC_RETURN_IF_ERROR(may_choose(program, *kernel, choice, context));
    if (!context.target.measures(choice.key)) forget_numbers(*kernel, context.target);
    kernel->choices[std::string(choice.key)] = choice.word;
  }
  return result;
}

}  // namespace mtmc
