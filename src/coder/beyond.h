// What stands in a Program and is beyond the actions: a library's call that none of them replaces. Whoever writes free
// code is asked for it.
#pragma once
#include <vector>

#include "actions/action.h"
#include "coder/coder.h"

namespace mtmc {

// The calls of a library that no `legal` action replaces, each by its values.
std::vector<std::vector<ValueId>> beyond_reach(const Program& program, const std::vector<Proposal>& legal);

// What may be asked for there, a few at most: `lower` each of these calls, the longest by the cost model first, then
// `fuse` it with what it reads or what reads it.
std::vector<Proposal> proposals_beyond(const CodeState& state, const std::vector<Proposal>& legal,
                                       const ActionContext& context);

}  // namespace mtmc
