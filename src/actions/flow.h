// The data flow between a program's kernels, for questions asked many times of one program. Kernels that only make
// views are transparent: what reads a view reads what the view is of.
#pragma once
#include <vector>

#include "ir/program.h"

namespace mtmc {

class KernelFlow {
 public:
  explicit KernelFlow(const Program& program);
  bool is_view(int kernel) const { return view_[kernel]; }
  const std::vector<int>& producers(int kernel) const { return before_[kernel]; }
  const std::vector<int>& consumers(int kernel) const { return after_[kernel]; }
  // Whether these kernels can be one: no other kernel stands between two of them.
  bool is_convex(const std::vector<int>& kernels) const;
  // Whether disjoint sets of kernels can become one kernel each, all at once.
  bool can_merge_all(const std::vector<std::vector<int>>& sets) const;

 private:
  std::vector<bool> view_;
  std::vector<std::vector<int>> before_, after_;  // direct neighbours, views walked through, ascending
  std::vector<std::vector<bool>> reaches_;        // reaches_[a][b]: b needs a, directly or not
};

}  // namespace mtmc
