// What a Program could still become: the cost model's time now, and after every kernel of ours got the schedule choices
// that it still lacks. A fused kernel that is not tiled yet is slow and promising; one look at the present says only
// the first.
#pragma once
#include <map>
#include <shared_mutex>
#include <string>
#include <vector>

#include "actions/action.h"
#include "targets/cost_parts.h"

namespace mtmc {

struct Prospect {
  double now = 0;        // seconds as scheduled
  double completed = 0;  // seconds with tile, pipeline and split wherever they help
  double host = 0;       // seconds that the host takes to launch it as scheduled, seen or not
};

// Keeps what it learned about kernels: most kernels of neighbouring Programs are the same. Several threads may ask it
// at once.
class Forecaster {
 public:
  explicit Forecaster(ActionContext context) : context_(context) {}
  // Of each kernel, in their order, and of all together.
  std::vector<Prospect> prospects(const Program& program);
  Prospect prospect(const Program& program);

 private:
  Prospect of_kernel(const Program& program, const Kernel& kernel, Captured place) const;
  // The number of a program's graph among those asked about lately.
  int graph_of(const Program& program);
  // By the tuning problem, which takes a walk over the graph to name.
  Prospect known_or_new(const Program& program, const Kernel& kernel, Captured place);

  struct Graph {
    int number;
    std::vector<Node> nodes;
    std::vector<Value> values;
  };

  ActionContext context_;
  std::shared_mutex mutex_;                // of all below
  std::map<std::string, Prospect> known_;  // by tuning key: alike kernels of all Programs
  std::map<std::string, Prospect> here_;   // by what differs between the schedules of one graph's kernels
  std::vector<Graph> graphs_;
  int numbers_ = 0;  // of graphs that were ever asked about
};

}  // namespace mtmc
