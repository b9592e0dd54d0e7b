#include "ir/program.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <span>

#include "base/hash.h"

namespace mtmc {
namespace {

const AttrValue& attribute(const Attrs& attrs, std::string_view key) {
  const auto found = attrs.find(key);
  MTMC_CHECK(found != attrs.end(), "no attribute " + std::string(key));
  return found->second;
}

template <typename T>
const T& typed(const Attrs& attrs, std::string_view key) {
  const T* value = std::get_if<T>(&attribute(attrs, key));
  MTMC_CHECK(value != nullptr, "attribute " + std::string(key) + " has another kind");
  return *value;
}

}  // namespace

std::vector<ValueId> ascending(std::vector<ValueId> ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

int64_t Attrs::integer(std::string_view key) const { return typed<int64_t>(*this, key); }
int64_t Attrs::integer(std::string_view key, int64_t otherwise) const { return has(key) ? integer(key) : otherwise; }
double Attrs::number(std::string_view key) const {
  if (const auto* whole = std::get_if<int64_t>(&attribute(*this, key))) return static_cast<double>(*whole);
  if (const auto* flag = std::get_if<bool>(&attribute(*this, key))) return *flag;
  return typed<double>(*this, key);
}
double Attrs::number(std::string_view key, double otherwise) const { return has(key) ? number(key) : otherwise; }
bool Attrs::flag(std::string_view key, bool otherwise) const { return has(key) ? typed<bool>(*this, key) : otherwise; }
const std::string& Attrs::text(std::string_view key) const { return typed<std::string>(*this, key); }
DType Attrs::dtype(std::string_view key) const { return typed<DType>(*this, key); }
std::vector<int64_t> Attrs::list(std::string_view key) const {
  if (const auto* single = std::get_if<int64_t>(&attribute(*this, key))) return {*single};
  return typed<std::vector<int64_t>>(*this, key);
}

std::string_view name(Family family) {
  static constexpr std::array<std::string_view, 9> kNames = {
      "library", "pointwise", "reduction", "contraction", "window", "scan", "movement", "attention", "recurrent"};
  return kNames[static_cast<size_t>(family)];
}

int64_t Kernel::number(std::string_view key, int64_t otherwise) const {
  const auto found = numbers.find(std::string(key));
  return found == numbers.end() ? otherwise : found->second;
}

namespace {

const Value* found_value(const std::vector<Value>& values, ValueId id) {
  const auto found =
      std::lower_bound(values.begin(), values.end(), id, [](const Value& v, ValueId wanted) { return v.id < wanted; });
  return found != values.end() && found->id == id ? &*found : nullptr;
}

}  // namespace

Value& Program::value(ValueId id) { return const_cast<Value&>(std::as_const(*this).value(id)); }
const Value& Program::value(ValueId id) const {
  const Value* found = found_value(values, id);
  MTMC_CHECK(found != nullptr, "no value %" + std::to_string(id));
  return *found;
}

bool Program::has_value(ValueId id) const { return found_value(values, id) != nullptr; }

std::vector<const Node*> Program::nodes_of(const Kernel& kernel) const {
  std::vector<const Node*> found;
  std::vector<ValueId> own = kernel.values;
  std::sort(own.begin(), own.end());
  for (const Node& node : nodes)
    if (std::binary_search(own.begin(), own.end(), node.outputs[0])) found.push_back(&node);
  return found;
}

const Node* Program::producer(ValueId id) const {
  for (const Node& node : nodes)
    if (std::find(node.outputs.begin(), node.outputs.end(), id) != node.outputs.end()) return &node;
  return nullptr;
}

std::vector<const Node*> Program::users(ValueId id) const {
  std::vector<const Node*> found;
  for (const Node& node : nodes)
    if (std::find(node.inputs.begin(), node.inputs.end(), id) != node.inputs.end()) found.push_back(&node);
  return found;
}

const Kernel* Program::kernel(std::string_view kernel_name) const {
  for (const Kernel& candidate : kernels)
    if (candidate.name == kernel_name) return &candidate;
  return nullptr;
}

std::vector<const Kernel*> Program::kernels_of(ValueId id) const {
  std::vector<const Kernel*> found;
  for (const Kernel& candidate : kernels)
    if (std::find(candidate.values.begin(), candidate.values.end(), id) != candidate.values.end())
      found.push_back(&candidate);
  return found;
}

std::vector<ValueId> Program::reads(const Kernel& kernel) const {
  const std::set<ValueId> own(kernel.values.begin(), kernel.values.end());
  std::set<ValueId> found;
  for (const Node& node : nodes) {
    if (!own.count(node.outputs[0])) continue;
    for (ValueId input : node.inputs)
      if (input != kNoValue && !own.count(input)) found.insert(input);
  }
  return {found.begin(), found.end()};
}

std::vector<ValueId> Program::writes(const Kernel& kernel) const {
  const std::set<ValueId> own(kernel.values.begin(), kernel.values.end());
  std::set<ValueId> needed(outputs.begin(), outputs.end());
  for (const StateUpdate& state : states) needed.insert(state.value);
  for (const Node& node : nodes) {
    // A value computed elsewhere as well is needed from us only when some user's kernel does not recompute it; the
    // first kernel that computes it is the one that writes it.
    std::vector<ValueId> ours;
    std::copy_if(node.inputs.begin(), node.inputs.end(), std::back_inserter(ours),
                 [&](ValueId input) { return own.count(input) > 0; });
    if (ours.empty()) continue;
    for (const Kernel* user : kernels_of(node.outputs[0]))
      for (ValueId input : ours)
        if (user != &kernel && std::find(user->values.begin(), user->values.end(), input) == user->values.end())
          needed.insert(input);
  }
  std::vector<ValueId> found;
  for (ValueId id : own)
    if (needed.count(id) && kernels_of(id).front()->name == kernel.name) found.push_back(id);
  return found;
}

namespace {

// For each value the kernels that compute it, by position. Of ids that the Program does not have there are none: it may
// be one that is yet to be verified.
class Makers {
 public:
  explicit Makers(const Program& program) {
    starts_.assign(static_cast<size_t>(program.next_id()) + 1, 0);
    const auto each = [&](const auto& visit) {
      for (size_t k = 0; k < program.kernels.size(); ++k)
        for (ValueId id : program.kernels[k].values)
          if (id >= 0 && id < program.next_id()) visit(k, static_cast<size_t>(id));
    };
    each([&](size_t, size_t id) { ++starts_[id + 1]; });
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    kernels_.resize(starts_.back());
    std::vector<size_t> next(starts_.begin(), starts_.end() - 1);
    each([&](size_t k, size_t id) { kernels_[next[id]++] = k; });
  }
  std::span<const size_t> of(ValueId id) const {
    const size_t at = static_cast<size_t>(id);
    if (at + 1 >= starts_.size()) return {};
    return std::span(kernels_).subspan(starts_[at], starts_[at + 1] - starts_[at]);
  }

 private:
  std::vector<size_t> starts_, kernels_;  // those of value i stand at starts_[i] and behind it
};

// Calls `visit` with a kernel and a value that it reads and does not compute itself.
template <typename Visit>
void each_read(const Program& program, const Makers& makers, Visit visit) {
  for (const Node& node : program.nodes)
    for (size_t k : makers.of(node.outputs[0]))
      for (ValueId input : node.inputs) {
        if (input == kNoValue) continue;
        const std::span<const size_t> made = makers.of(input);
        if (std::find(made.begin(), made.end(), k) == made.end()) visit(k, input);
      }
}

std::vector<std::vector<ValueId>> all_ascending(std::vector<std::vector<ValueId>> lists) {
  for (std::vector<ValueId>& ids : lists) ids = ascending(std::move(ids));
  return lists;
}

}  // namespace

std::vector<std::vector<ValueId>> Program::reads_of_all() const {
  std::vector<std::vector<ValueId>> reads(kernels.size());
  each_read(*this, Makers(*this), [&](size_t k, ValueId id) { reads[k].push_back(id); });
  return all_ascending(std::move(reads));
}

std::vector<std::vector<ValueId>> Program::writes_of_all() const {
  const Makers makers(*this);
  std::vector<std::vector<ValueId>> writes(kernels.size());
  const auto write = [&](ValueId id) {
    if (id == kNoValue || makers.of(id).empty()) return;
    std::vector<ValueId>& first = writes[makers.of(id).front()];
    if (first.empty() || first.back() != id) first.push_back(id);
  };
  each_read(*this, makers, [&](size_t, ValueId id) { write(id); });
  for (ValueId id : outputs) write(id);
  for (const StateUpdate& state : states) write(state.value);
  return all_ascending(std::move(writes));
}

ValueId Program::next_id() const { return values.empty() ? 0 : values.back().id + 1; }

std::string Program::next_kernel_name() const {
  int next = 0;
  for (const Kernel& candidate : kernels) next = std::max(next, std::atoi(candidate.name.c_str() + 1) + 1);
  return "k" + std::to_string(next);
}

std::string program_hash(const Program& program) { return sha256(print(program)); }
std::string state_hash(const Program& program) {
  return sha256(print(program, {.numbers = false, .locations = false}));
}

void reset_kernels(Program& program) {
  program.kernels.clear();
  program.captures.clear();
  for (const Node& node : program.nodes) {
    Kernel kernel;
    kernel.name = "k" + std::to_string(program.kernels.size());
    kernel.values = node.outputs;
    program.kernels.push_back(std::move(kernel));
  }
}

}  // namespace mtmc
