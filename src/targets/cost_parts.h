// What the cost models of CPUs and GPUs share: the work of a kernel, and what it moves.
#pragma once
#include <algorithm>
#include <vector>

#include "ops/op.h"
#include "targets/cost.h"

namespace mtmc {

double stored_bytes(const Program& program, ValueId id);

// Of torch's own call: what is written where it lies moves no more than is new.
Work library_work(const Program& program, const Node& node);

// A kernel's name, bytes and operations; the time is the model's business.
struct KernelWork {
  KernelCost cost;
  Work work;          // of all its nodes
  bool free = false;  // views that a library call makes: no time at all
};
KernelWork kernel_work(const Program& program, const Kernel& kernel);

// Captured kernels are launched by the first of them that is no view.
enum class Captured { no, first, later };
Captured captured(const Program& program, const Kernel& kernel);
std::vector<Captured> captured_of_all(const Program& program);  // of each kernel, in their order

// Seconds of moving data and of computing, which overlap for the most part.
inline double overlapped(double memory, double arithmetic) {
  return std::max(memory, arithmetic) + 0.2 * std::min(memory, arithmetic);
}

}  // namespace mtmc
