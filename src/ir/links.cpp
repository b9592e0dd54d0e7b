#include "ir/links.h"

#include <algorithm>

namespace mtmc {

Links::Links(const Program& program) : program_(program) {
  const size_t ids = static_cast<size_t>(program.next_id());
  producer_.assign(ids, -1), users_.resize(ids), makers_.resize(ids), returned_.assign(ids, false);
  for (size_t n = 0; n < program.nodes.size(); ++n) {
    const int place = static_cast<int>(n);
    for (ValueId id : program.nodes[n].outputs) producer_[static_cast<size_t>(id)] = place;
    for (ValueId id : program.nodes[n].inputs) {
      if (id == kNoValue) continue;
      std::vector<int>& users = users_[static_cast<size_t>(id)];
      if (users.empty() || users.back() != place) users.push_back(place);
    }
  }
  for (size_t k = 0; k < program.kernels.size(); ++k)
    for (ValueId id : program.kernels[k].values) makers_[static_cast<size_t>(id)].push_back(static_cast<int>(k));
  for (ValueId id : program.outputs)
    if (id != kNoValue) returned_[static_cast<size_t>(id)] = true;
  for (const StateUpdate& state : program.states) returned_[static_cast<size_t>(state.value)] = true;
}

const std::vector<int>& Links::at(const std::vector<std::vector<int>>& lists, ValueId id) const {
  static const std::vector<int> none;
  return id == kNoValue ? none : lists[static_cast<size_t>(id)];
}

const Node* Links::producer(ValueId id) const {
  const int place = id == kNoValue ? -1 : producer_[static_cast<size_t>(id)];
  return place < 0 ? nullptr : &program_.nodes[static_cast<size_t>(place)];
}

std::vector<const Node*> Links::nodes(const std::vector<ValueId>& values) const {
  std::vector<int> places;
  for (ValueId id : values)
    if (const int place = producer_[static_cast<size_t>(id)]; place >= 0) places.push_back(place);
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  std::vector<const Node*> found;
  for (int place : places) found.push_back(&program_.nodes[static_cast<size_t>(place)]);
  return found;
}

namespace {

bool holds(const std::vector<ValueId>& sorted, ValueId id) {
  return std::binary_search(sorted.begin(), sorted.end(), id);
}

}  // namespace

std::vector<ValueId> Links::reads(const Kernel& kernel) const {
  const std::vector<ValueId> own = ascending(kernel.values);
  std::vector<ValueId> found;
  for (const Node* node : nodes(own))
    for (ValueId id : node->inputs)
      if (id != kNoValue && !holds(own, id)) found.push_back(id);
  return ascending(std::move(found));
}

std::vector<ValueId> Links::writes(const Kernel& kernel) const {
  const auto others_need = [&](ValueId id) {
    for (int user : users(id))
      for (int maker : makers(program_.nodes[static_cast<size_t>(user)].outputs[0])) {
        const Kernel& other = program_.kernels[static_cast<size_t>(maker)];
        const auto& values = other.values;
        if (other.name != kernel.name && std::find(values.begin(), values.end(), id) == values.end()) return true;
      }
    return false;
  };
  std::vector<ValueId> found;
  for (ValueId id : ascending(kernel.values)) {
    const bool first = program_.kernels[static_cast<size_t>(makers(id).front())].name == kernel.name;
    if (first && (is_returned(id) || others_need(id))) found.push_back(id);
  }
  return found;
}

}  // namespace mtmc
