// Does a candidate need the kernels of its own? They are unplugged, and answers and time must go with them; and it is
// looked at, in the middle of calls, where its threads are at work. See docs/JUDGE.md, "Own kernels".
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "eval/examination.h"
#include "eval/guest.h"
#include "eval/verdict.h"

namespace mtmc {

// Each returns false when the verdict is settled (refused); an Error when the judge itself fails.

// A new guest that has loaded the candidate and run its first draw; nothing when it failed.
using AnotherGuest = std::function<Result<std::optional<Guest>>()>;

// Are native kernels that the file defines loaded at all and, where `another` is given, do values and time go with
// them? Afterwards `guest` has none.
Result<bool> uses_kernels(Guest& guest, Examination& examination, const std::string& draw, const AnotherGuest& another,
                          Verdict& verdict);

// The first call of a new guest, with the file's Triton kernels unplugged, must not be right.
Result<bool> needs_kernels(Guest& guest, Examination& examination, const std::string& draw);

}  // namespace mtmc
