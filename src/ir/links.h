// Who makes and who needs each value of a Program, looked up instead of searched for: for questions that are asked of
// all its kernels. The Program must outlive it and stay as it is.
#pragma once
#include <vector>

#include "ir/program.h"

namespace mtmc {

class Links {
 public:
  explicit Links(const Program& program);
  const Program& program() const { return program_; }
  // The node that computes a value; null for inputs, parameters, buffers and constants.
  const Node* producer(ValueId id) const;
  // The nodes that read a value, by position.
  const std::vector<int>& users(ValueId id) const { return at(users_, id); }
  // The kernels that compute a value, by position; the first of them writes it.
  const std::vector<int>& makers(ValueId id) const { return at(makers_, id); }
  // Does the caller, or a state, get it?
  bool is_returned(ValueId id) const { return returned_[static_cast<size_t>(id)]; }
  // The nodes that compute these values, in their order.
  std::vector<const Node*> nodes(const std::vector<ValueId>& values) const;
  // As the Program's own, of one of its kernels.
  std::vector<ValueId> reads(const Kernel& kernel) const;
  std::vector<ValueId> writes(const Kernel& kernel) const;

 private:
  const std::vector<int>& at(const std::vector<std::vector<int>>& lists, ValueId id) const;

  const Program& program_;
  std::vector<int> producer_;  // by id: the position of a node, or -1
  std::vector<std::vector<int>> users_, makers_;
  std::vector<bool> returned_;
};

}  // namespace mtmc
