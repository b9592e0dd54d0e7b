// What a Program could still become: the cost model's time now, and after every kernel of ours got the schedule choices
// that it still lacks. A fused kernel that is not tiled yet is slow and promising; one look at the present says only
// the first.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

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
  // Of each kernel, in their order, and of all together.
  std::vector<Prospect> prospects(const Program& program);
  Prospect prospect(const Program& program);

 private:
  Prospect of_kernel(const Program& program, const Kernel& kernel);
  // The number of a program's graph among those asked about lately.
  int graph_of(const Program& program);

  ActionContext context_;
  std::map<std::string, Prospect> known_;  // by tuning key: alike kernels of all Programs
  // Names a kernel's tuning problem within a graph by what differs between its schedules: tuning keys take a walk over
  // the graph each.
  std::map<std::string, Prospect> here_;
  std::vector<std::pair<std::vector<Node>, std::vector<Value>>> graphs_;
};

}  // namespace mtmc
