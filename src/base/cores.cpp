#include "base/cores.h"

#include <sched.h>

namespace mtmc {

const std::vector<int>& usable_cores() {
  static const std::vector<int> cores = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    std::vector<int> found;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
      for (int core = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &set)) found.push_back(core);
    return found.empty() ? std::vector<int>{0} : found;
  }();
  return cores;
}

}  // namespace mtmc
