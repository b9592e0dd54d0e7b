// Contractions whose tiles are too few for a GPU: chunks of K run at the same time, and their partial results are added
// up together with what follows.
#pragma once
#include <cstdint>

#include "ir/hardware.h"
#include "targets/triton/prepare.h"

namespace mtmc::triton {

// Tiles of 128 x 128 results.
int64_t tiles_of(const GroupStage& stage);
// Chunks of K that keep a GPU busy; 1: its tiles do, or K cannot be cut in such chunks.
int64_t chunks_of_k(const GroupStage& stage, const Hardware& hardware);

// r = sum over k of l * r  becomes  partial[c] = sum over chunk c of l * r, r = sum over c of partial[c].
// `chunks`: how many, of those that gain by it; 0: as many as keep a GPU busy.
Prepared split_contractions(const Prepared& whole, int64_t chunks, const Hardware& hardware);

}  // namespace mtmc::triton
