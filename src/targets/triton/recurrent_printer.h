// Prints a recurrence (ops/recurrence.h) as one persistent launch with its layers as a wavefront: a program keeps the
// weights of a slice of one layer's units on chip, split into pairs of fp16 numbers, and computes that slice of the
// states of all time steps, waiting on a counter per layer, direction and time for what the others computed.
// Products are hi hi + hi lo + lo hi on tensor cores (after Ootomo & Yokota, 2022): as exact as fp32.
#pragma once
#include "targets/triton/kernel_printer.h"

namespace mtmc {

// An Error where the programs would not all be resident at once, or their weights would not fit: a library call then.
// Only for kernels that are recurrences (is_recurrent).
Result<TritonKernel> print_recurrent_kernel(const Program& program, const Kernel& kernel, const Hardware& hardware);

}  // namespace mtmc
