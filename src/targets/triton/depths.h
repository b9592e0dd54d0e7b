// How many steps of a loop are loaded ahead of the one that computes: "stages".
#pragma once
#include <vector>

#include "ir/hardware.h"
#include "targets/triton/launch.h"

namespace mtmc::triton {

// Bytes of shared memory that a program has for what is loaded ahead: all but some room.
int64_t room_ahead(const Hardware& hardware);

// `now` with other "stages" that fit shared memory; `otherwise` is what an absent one means.
std::vector<Numbers> other_depths(const Numbers& now, int64_t otherwise, int64_t bytes_of_stage,
                                  const Hardware& hardware);

}  // namespace mtmc::triton
