// Fewer passes over the rows of a frame: passes joined, scratch kept in an output, rows fetched ahead.
#pragma once
#include <optional>
#include <vector>

#include "targets/frame.h"

namespace mtmc {

// What a sweep stores on its way: `value` as tensor[at], before the stage's own body uses it.
struct Tee {
  int tensor = -1;
  std::vector<ExprP> at;
  ExprP value;
};

// A sweep also fetches tensor[at] of `distance` elements on.
struct Ahead {
  int tensor = -1;
  std::vector<ExprP> at;
  int64_t distance = 0;
};

struct Joined {
  GroupStage stage;
  Tee tee;
};

// The reduction `second` when its sweep can compute the pointwise stage `first` on its way: it reads each element of
// that stage's result once.
std::optional<Joined> join(const Group& group, const GroupStage& first, const GroupStage& second);

// The output whose memory may hold a scratch tensor of the frame: its elements are read last where the output's are
// written. -1: none.
int home_of(const Group& group, const Frame& frame, int scratch);

// The rows of the next tile along the innermost shared axis, `tile` long, that stage `s` can fetch while it computes:
// what an earlier stage of the frame waits for.
std::vector<Ahead> next_rows(const Group& group, const Frame& frame, int s, int64_t tile);

}  // namespace mtmc
