#include "learn/times.h"

#include <algorithm>

#include "eval/stats.h"
#include "learn/live.h"

namespace mtmc {
namespace {

// Times of the usual that eager may have taken. On the stores behind datasets/h100 the start of a search, which is
// eager, scatters least with it: 0.12 instead of 0.31 in the logarithm.
constexpr double kMostEager = 1.4;

}  // namespace

double quick_ms(const Verdict& verdict, const std::string& contestant) {
  const auto at = verdict.times.find(contestant);
  return at == verdict.times.end() || at->second.samples_ms.empty() ? 0 : quantile(at->second.samples_ms, 0.25);
}

double steady_time(const Verdict& verdict, double usual) {
  const double own = quick_ms(verdict, "candidate"), eager = quick_ms(verdict, "eager");
  if (!verdict.certified() || own <= 0 || eager <= 0) return time_of(verdict);
  return own / (usual > 0 ? std::min(eager, kMostEager * usual) : eager);
}

}  // namespace mtmc
