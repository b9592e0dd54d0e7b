// What a Program could still become: the cost model's time now, and after every kernel of ours got the schedule choices
// that it still lacks. A fused kernel that is not tiled yet is slow and promising; one look at the present says only
// the first.
#pragma once
#include <map>
#include <string>

#include "actions/action.h"

namespace mtmc {

struct Prospect {
  double now = 0;        // seconds as scheduled
  double completed = 0;  // seconds with tile, pipeline and split wherever they help
};

// Keeps what it learned about kernels: most kernels of neighbouring Programs are the same.
class Forecaster {
 public:
  explicit Forecaster(ActionContext context) : context_(context) {}
  Prospect prospect(const Program& program);

 private:
  Prospect of_kernel(const Program& program, const Kernel& kernel);
  ActionContext context_;
  std::map<std::string, Prospect> known_;
};

}  // namespace mtmc
