#include "eval/speedup.h"

#include <fmt/format.h>

#include "base/result.h"

namespace mtmc {
namespace {

// High over low: from where on ...
constexpr double kNarrow = 1.1;    // the median says more than is known; about 5 % to either side
constexpr double kUnclear = 1.25;  // an interval around 1 tells nothing
constexpr double kBusy = 2;        // not even the low end is a figure

}  // namespace

std::string to_string(Claim claim) {
  switch (claim) {
    case Claim::clear: return "clear";
    case Claim::at_least: return "at-least";
    case Claim::faster: return "faster";
    case Claim::unclear: return "unclear";
  }
  MTMC_CHECK(false, "a claim without a name");
}

bool narrow(const Speedup& speedup) { return speedup.high <= kNarrow * speedup.low; }

Claim claim(const Speedup& speedup) {
  if (narrow(speedup)) return Claim::clear;
  const bool below = speedup.high<1, above = speedup.low> 1;
  if (!below && !above && speedup.high > kUnclear * speedup.low) return Claim::unclear;
  return above && speedup.high > kBusy * speedup.low ? Claim::faster : Claim::at_least;
}

bool has_figure(const Speedup& speedup) { return claim(speedup) == Claim::clear || claim(speedup) == Claim::at_least; }

double headline(const Speedup& speedup) {
  const bool doubtful = speedup.low <= 1 && speedup.median > 1;
  return narrow(speedup) && !doubtful ? speedup.median : speedup.low;
}

std::string say(const Speedup& speedup, const std::string& baseline) {
  switch (claim(speedup)) {
    case Claim::clear: return fmt::format("{:.2f}x {}", headline(speedup), baseline);
    case Claim::at_least:
      if (speedup.high < 1) return fmt::format("{:.2f}x to {:.2f}x {}", speedup.low, speedup.high, baseline);
      return fmt::format("at least {:.2f}x {}", headline(speedup), baseline);
    case Claim::faster: return "faster, but this machine was too busy to say by how much";
    case Claim::unclear: return "this machine was too busy to compare it with " + baseline;
  }
  MTMC_CHECK(false, "a claim without words");
}

}  // namespace mtmc
