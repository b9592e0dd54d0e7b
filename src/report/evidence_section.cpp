// Why the result may be trusted: errors against their limits, what else was checked, timings, the machine.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "eval/stats.h"
#include "report/html.h"

namespace mtmc {
namespace {

std::string verdict_card(const std::string& name, bool passed, const std::string& meaning) {
  return fmt::format("<div class='card'><b>{}</b> <span class='badge {}'>{}</span><p>{}</p></div>\n", name,
                     passed ? "good" : "bad", passed ? "yes" : "no", meaning);
}

std::string three_verdicts(const Verdict& v) {
  return "<div class='verdicts'>\n" +
         verdict_card("certified", v.certified() && v.tier == Tier::certify,
                      "Ours: as exact as eager against float64 truth, on every draw.") +
         verdict_card("official", v.official, "KernelBench today: allclose to eager at 1e&#8209;4.") +
         verdict_card("legacy", v.legacy, "KernelBench as first published: allclose at 1e&#8209;2.") + "</div>\n";
}

std::string scientific(double value) {
  if (value == 0) return "0";
  return std::isfinite(value) ? fmt::format("{:.1e}", value) : "not finite";
}

std::string error_row(const OutputError& e) {
  const double used = e.limit > 0 ? e.error / e.limit : e.error > 0 ? INFINITY : 0;
  const double width = std::isfinite(used) ? std::min(100.0, 100 * used) : 100;
  const std::string mark = !e.counts ? "<span class='badge warn'>does not count</span>"
                           : !e.broken.empty()
                               ? fmt::format("<span class='badge bad'>rule {}</span>", escape_html(e.broken))
                               : "";
  return fmt::format(
      "<tr><td>{} {}</td><td>{}</td><td class='n'>{}</td><td class='n'>{}</td><td class='n'><span class='used'><i "
      "class='{}' style='width:{:.1f}%'></i></span>{}</td><td class='n'>{} of {}</td></tr>\n",
      escape_html(e.draw), mark, escape_html(e.output), scientific(e.budget), scientific(e.error),
      used > 1 ? "hot" : "", width,
      std::isfinite(used) ? fmt::format("{: >3.0f} % of {}", 100 * used, scientific(e.limit)) : "over",
      scientific(e.max_error), scientific(e.max_limit));
}

// A draw is judged over several calls: its worst one stands for it.
std::string error_table(const Verdict& v) {
  std::map<std::pair<std::string, std::string>, size_t> rows;
  std::vector<OutputError> worst;
  for (const OutputError& e : v.errors) {
    const auto [at, added] = rows.try_emplace({e.draw, e.output}, worst.size());
    if (added) {
      worst.push_back(e);
    } else if (e.error > worst[at->second].error) {
      worst[at->second] = e;
    }
  }
  std::string html =
      "<div class='card scroll tall'><table>\n<tr><th>draw</th><th>output</th><th class='n'>eager's own error</th><th "
      "class='n'>this kernel's</th><th class='n'>of its limit</th><th class='n'>largest element</th></tr>\n";
  for (const OutputError& e : worst) html += error_row(e);
  return html + "</table></div>\n";
}

std::string check(bool done, const std::string& text) {
  return fmt::format("<li class='{}'>{}</li>\n", done ? "yes" : "no", text);
}

bool noted(const Verdict& v, std::string_view word) {
  return std::any_of(v.notes.begin(), v.notes.end(), [&](const std::string& note) { return note.starts_with(word); });
}

std::string weights_check(const Verdict& v) {
  if (v.weights.empty() || v.weights == "none") return "";
  if (noted(v, "frozen-weights")) return check(false, "weights are packed once: later changes are <b>not</b> followed");
  if (noted(v, "second-weights")) return check(false, "whether it follows changed weights could not be shown");
  return check(true, "weights are inputs: changed ones change the answer");
}

// What certification asks beside the errors; the judge refuses by these names (docs/JUDGE.md).
std::string checks(const ReportData& data, const Verdict& v) {
  const auto structured = std::count_if(v.draws.begin(), v.draws.end(), [](const std::string& draw) {
    return !draw.starts_with("task") && !draw.starts_with("weights") && !draw.starts_with("shape");
  });
  std::string html = "<ul class='checks'>\n";
  html += check(!v.degenerate, v.degenerate ? "zeros, a constant or a copy of an input <b>would pass</b> this task"
                                            : "zeros, constants and copies of an input fail this task");
  html += check(structured >= 2,
                fmt::format("{} structured draw{} beside the task's own", structured, structured == 1 ? "" : "s"));
  if (v.tier == Tier::certify && v.certified()) {
    html += check(true, "deterministic: the same call repeated gave a right answer every time");
    html += check(true, "inputs untouched; outputs own their memory and are not reused");
    html += weights_check(v);
    html += check(true, "another shape gives a right answer or a clear error");
    if (std::any_of(data.kernels_after.begin(), data.kernels_after.end(),
                    [](const auto& kernel) { return kernel.own; }))
      html += check(true, "its own kernels matter: unplugged, the answer changes");
    html += check(true, "no work left behind after a call; torch and the clocks untouched");
    html += check(!noted(v, "above-roofline"), noted(v, "above-roofline")
                                                   ? "faster than the task's nominal roofline: flagged"
                                                   : "not faster than the bytes it must touch allow");
    html += check(true, "outputs of timed calls re-verified; times agree with an outside clock");
  }
  return html + "</ul>\n";
}

std::string speedup_cell(const Speedup* speedup) {
  return speedup ? fmt::format("{} ({})", format_speedup(speedup->median), format_interval(*speedup)) : "–";
}

std::string timing_table(const Verdict& v) {
  if (v.times.empty()) return "";
  std::string html =
      "<h3>Timing, interleaved in one run</h3>\n<div class='card scroll'><table>\n<tr><th></th><th "
      "class='n'>median</th><th "
      "class='n'>quartile range</th><th class='n'>cold calls</th><th class='n'>this kernel is, times as "
      "fast</th></tr>\n";
  for (const auto& [name, timing] : v.times)
    html += fmt::format(
        "<tr><td>{}</td><td class='n'>{}</td><td class='n'>{}</td><td class='n'>{}</td><td class='n'>{}</td></tr>\n",
        name == "compile"     ? "torch.compile"
        : name == "candidate" ? "this kernel"
                              : escape_html(name),
        format_ms(timing.median_ms), format_ms(timing.spread_ms), timing.samples_ms.size(),
        name == "candidate" ? "" : speedup_cell(speedup_over(v, name)));
  return html + fmt::format(
                    "</table></div>\n<p class='note'>The median of the ratios round by round, and the interval that "
                    "holds it with {:.0f} % certainty. Where that is wide, its lower end is the headline.</p>\n",
                    100 * level_of(v.tier));
}

std::string fact(const std::string& name, const std::string& value) {
  return value.empty() ? "" : fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, escape_html(value));
}

std::string percent(std::optional<double> share) { return share ? fmt::format("{:.0f} %", 100 * *share) : ""; }

}  // namespace

std::string evidence_section(const ReportData& data) {
  const Verdict* verdict = data.best_verdict();
  if (!verdict) return "";
  std::string html = "<section id='evidence'>\n<h2>The evidence</h2>\n";
  if (verdict->errors.empty()) {
    html +=
        "<p class='note'>No code was run: times are the cost model's, and nothing about correctness was "
        "measured.</p>\n";
  } else {
    html +=
        "<p class='note'>Truth is a float64 replay of the module on the same inputs. Eager's own error against it, "
        "over "
        "several seeds, is the budget; the kernel may err about twice that.</p>\n" +
        three_verdicts(*verdict) + checks(data, *verdict) +
        "<h3>Errors against float64 truth</h3>\n<p class='note'>A draw is one hidden set of inputs, named by how it "
        "was "
        "made from the task's own; docs/JUDGE.md lists the kinds.</p>\n" +
        error_table(*verdict);
  }
  html += timing_table(*verdict);
  html += "<h3>How it was judged</h3>\n<dl class='facts'>\n" + fact("tier", to_string(verdict->tier)) +
          fact("sandbox", verdict->sandbox) + fact("weights", verdict->weights) +
          fact("own kernels", percent(verdict->own_kernel_share) + (verdict->own_kernel_share ? " of the time" : "")) +
          fact("library use", verdict->library_use);
  for (const std::string& note : verdict->notes) html += fact("note", note);
  return html + fact("evaluator", verdict->evaluator) + fact("took", fmt::format("{:.1f} s", verdict->seconds)) +
         "</dl>\n</section>\n";
}

std::string machine_section(const ReportData& data) {
  const Hardware& hardware = data.run.hardware;
  std::string html = "<section id='machine'>\n<h2>The machine and the run</h2>\n<div class='card'><dl class='facts'>\n";
  html += fact("hardware", hardware.name) + fact("target", data.run.target) +
          fact("cores", std::to_string(hardware.cores)) +
          fact("bandwidth", fmt::format("{:.1f} GB/s", hardware.bandwidth / 1e9)) +
          fact("arithmetic", fmt::format("{:.0f} GFLOP/s fp32", hardware.flops_f32 / 1e9));
  Json options = Json::parse(data.run.options, nullptr, false);
  if (options.is_object()) {
    for (const char* said : {"hardware", "target", "seed", "evaluator"}) options.erase(said);  // above and below
    if (options.value("evaluations", 1) == 0) options["evaluations"] = "no limit";
    for (const auto& [name, value] : options.items())
      html += fact(escape_html(name), value.is_string() ? value.get<std::string>() : value.dump());
  }
  html += fact("seed", std::to_string(data.run.seed)) + fact("evaluator", data.run.evaluator) +
          fact("started", data.run.started) + fact("took", fmt::format("{:.1f} s", data.run.seconds)) +
          fact("task hash", data.run.task_hash);
  return html + fmt::format(
                    "</dl></div>\n<p class='note' style='margin-top:12px'>The whole tree is in the store: <code>mtmc "
                    "show {0}</code> lists it, <code>mtmc replay {0}</code> prints every step again, byte for "
                    "byte.</p>\n</section>\n",
                    data.run.id);
}

}  // namespace mtmc
