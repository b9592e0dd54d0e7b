#include "eval/evidence.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "eval/stats.h"

namespace mtmc {

std::string exactness(const Verdict& verdict) {
  return verdict.accuracy_class == "exact" ? "bit for bit what eager returns" : "as exact as " + verdict.accuracy_class;
}

namespace {

constexpr double kShownShare = 0.005;  // of the time, the least that is worth a line

std::string headline(const Verdict& v) {
  if (v.certified() && v.estimated()) return "estimated by the cost model: no code was run";
  if (v.certified())
    return fmt::format("{}: {}", v.tier == Tier::certify ? "certified" : "passed the screen", exactness(v));
  return fmt::format("{}: {} at the stage {}\n  {}", to_string(v.outcome), v.reason, v.stage, v.message);
}

// The worst error of each output over all draws, beside its limit.
std::vector<std::string> error_lines(const Verdict& v) {
  std::map<std::string, std::pair<OutputError, int>> worst;
  for (const OutputError& e : v.errors) {
    auto [at, added] = worst.try_emplace(e.output, e, 0);
    ++at->second.second;
    const auto used = [](const OutputError& x) { return x.limit > 0 ? x.error / x.limit : x.error; };
    if (!added && used(e) > used(at->second.first)) at->second.first = e;
  }
  std::vector<std::string> lines;
  for (const auto& [output, entry] : worst) {
    const OutputError& e = entry.first;
    lines.push_back(
        fmt::format("  output {}: {} call{} measured, worst relative error {:.3g} on {} (limit {:.3g}, budget {:.3g})",
                    output, entry.second, entry.second == 1 ? "" : "s", e.error, e.draw, e.limit, e.budget));
  }
  return lines;
}

std::vector<std::string> time_lines(const Verdict& v) {
  std::vector<std::string> lines;
  for (const auto& [engine, timing] : v.times) {
    std::string line = fmt::format("  {:<10} {:9.3f} ms  (spread {:.3f}, {} cold calls)", engine, timing.median_ms,
                                   timing.spread_ms, timing.samples_ms.size());
    if (const Speedup* speedup = speedup_over(v, engine))
      line += fmt::format("  {:.2f} times ({:.2f} to {:.2f})", speedup->median, speedup->low, speedup->high);
    lines.push_back(line);
  }
  return lines;
}

const char* yes(bool value) { return value ? "yes" : "no"; }

}  // namespace

std::vector<std::string> profile_lines(const Verdict& v) {
  std::vector<std::pair<double, std::string>> largest;
  for (const auto& [name, share] : v.kernel_shares) largest.emplace_back(share, name);
  std::stable_sort(largest.begin(), largest.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> lines;
  for (const auto& [share, name] : largest)
    if (share >= kShownShare) lines.push_back(fmt::format("  {:>5.1f} %  {}", 100 * share, name));
  if (!lines.empty()) lines.insert(lines.begin(), "where the time goes, as a profile from inside says:");
  return lines;
}

std::string render_evidence(const Verdict& v) {
  std::vector<std::string> lines = {headline(v)};
  if (v.certified() && v.estimated()) {
    if (!v.message.empty()) lines.push_back(v.message);
    if (const Speedup* eager = speedup_over(v, "eager")) lines.push_back("in short: " + say(*eager, "eager"));
    return join(lines, "\n");
  }
  if (!v.draws.empty()) lines.push_back("draws: " + join(v.draws, ", "));
  const auto errors = error_lines(v), times = time_lines(v);
  lines.insert(lines.end(), errors.begin(), errors.end());
  if (!times.empty())
    lines.push_back(fmt::format("time, and how many times faster the candidate is ({:.0f} % interval of the median):",
                                100 * level_of(v.tier)));
  lines.insert(lines.end(), times.begin(), times.end());
  if (const Speedup* eager = speedup_over(v, "eager")) lines.push_back("in short: " + say(*eager, "eager"));
  if (v.clock_apart_ms && v.clock_noise_ms)
    lines.push_back(
        fmt::format("clocks: inside and outside {:.1f} us apart beyond a call's usual cost (noise {:.1f} us)",
                    1e3 * *v.clock_apart_ms, 1e3 * *v.clock_noise_ms));
  if (v.own_kernel_share) {
    lines.push_back(
        fmt::format("own kernels: {:.0f} % of the time; library use: {}", 100 * *v.own_kernel_share, v.library_use));
    if (v.launches) lines.back() += fmt::format("; {} launches a call", *v.launches);
  }
  for (const std::string& line : profile_lines(v)) lines.push_back(line);
  lines.push_back(fmt::format("certified: {}   official (allclose 1e-4): {}   legacy (1e-2): {}   degenerate task: {}",
                              v.certified() && v.tier == Tier::screen ? "only screened" : yes(v.certified()),
                              yes(v.official), yes(v.legacy), yes(v.degenerate)));
  if (!v.weights.empty()) lines.push_back("weights: " + v.weights);
  for (const std::string& note : v.notes) lines.push_back("note: " + note);
  lines.push_back(fmt::format("sandbox: {}   judged in {:.1f} s by {}", v.sandbox, v.seconds, v.evaluator));
  return join(lines, "\n");
}

std::string without_controls(std::string text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : ' ');
    if (byte == 0xC2 && next >= 0x80 && next < 0xA0) text[i] = text[i + 1] = '?';  // U+0080 to U+009F
    if ((byte < ' ' && byte != '\n' && byte != '\t') || byte == 0x7F) text[i] = '?';
  }
  return text;
}

}  // namespace mtmc
