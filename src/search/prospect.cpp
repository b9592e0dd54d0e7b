#include "search/prospect.h"

#include <algorithm>

#include "base/hash.h"
#include "ir/kernel_program.h"
#include "targets/cost.h"

namespace mtmc {

Prospect Forecaster::prospect(const Program& program) {
  Prospect total;
  for (const Kernel& kernel : program.kernels) {
    std::string key = tuning_key(program, kernel, context_.hardware);
    for (const auto& capture : program.captures)
      if (std::count(capture.begin(), capture.end(), kernel.name) > 0)
        key += capture.front() == kernel.name ? "^" : "_";
    auto known = known_.find(key);
    if (known == known_.end()) known = known_.emplace(std::move(key), of_kernel(program, kernel)).first;
    total.now += known->second.now;
    total.completed += known->second.completed;
  }
  return total;
}

Prospect Forecaster::of_kernel(const Program& program, const Kernel& kernel) {
  const double now = cost_of(program, kernel, context_.hardware).seconds;
  Prospect prospect{now, now};
  if (kernel.family == Family::library) return prospect;
  Program best = program;
  for (const char* type : {"tile", "pipeline", "split"}) {
    const auto next = apply_action(best, {type, {kernel.values}, ""}, context_);
    if (!next.ok()) continue;
    const double seconds = cost_of(*next, *next->kernel(kernel.name), context_.hardware).seconds;
    if (seconds > prospect.completed) continue;
    prospect.completed = seconds;
    best = std::move(next).value();
  }
  return prospect;
}

}  // namespace mtmc
