// Which of a state's actions a policy that reads them is asked about: a network of hundreds of operators has thousands.
#pragma once
#include <cstddef>
#include <vector>

#include "actions/action.h"

namespace mtmc {

constexpr size_t kMostOffered = 64;

struct Offer {
  std::vector<size_t> kept;  // positions in the proposals, in their order; `stop` is always among them
  size_t left_out = 0;
};

// Of the Program's time, by the target's cost model, what the kernels of each proposal's regions take.
std::vector<double> time_shares(const std::vector<Proposal>& proposals, const Program& program,
                                const ActionContext& context);

// The first pass. Types take turns, in the order in which they first appear; at its turn each gives the action with the
// largest share of the time (of equal ones the first), until `most` are kept or all are. One place of a class that is
// offered whole stands behind all others of its type. Nothing is left out where there are no more than `most`.
Offer first_pass(const std::vector<Proposal>& proposals, const std::vector<double>& shares, size_t most = kMostOffered);

}  // namespace mtmc
