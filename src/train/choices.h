// How to choose without a policy, by position in the episode's actions.
#pragma once
#include <cstddef>

#include "base/rng.h"
#include "learn/episode.h"
#include "learn/tree.h"

namespace mtmc::train {

// Any action, but not `stop` before step 4.
size_t at_random(const Episode& episode, Rng& rng);
// The action that led to the fastest state on average, or `stop`.
size_t steepest(const Tree& tree, const Episode& episode);
// The action of which the cost model expects most.
size_t expected_most(const Episode& episode);

}  // namespace mtmc::train
