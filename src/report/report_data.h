// What result.json, report.html and the tables are made from: a run as the store has it, and the cost model's figures.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace mtmc {

// One kernel of a Program against the roofline, by the cost model.
struct KernelShare {
  std::string name;             // "k3"
  std::string what;             // its operators: "linear, gelu"
  double seconds = 0;           // estimated
  double roofline = 0;          // the least time that its bytes and operations allow
  double bytes = 0, flops = 0;  // moved and done, once a call
  bool own = false;             // generated; false: a call of the torch operator
};

struct ReportData {
  RunRecord run;
  std::vector<NodeRecord> nodes;      // as the store gives them: parents before children
  NodeId best = kNoNode;              // the run's result, or the best so far; kNoNode when nothing is certified
  std::string software;               // what kernel.py needs beside torch: "a C++ compiler"; may be empty
  bool is_module = true;              // false: of a target without code of its own kernel.py only shows the Program
  std::string account;                // what its coder has cost, as JSON; empty: nothing costs
  std::vector<std::string> rewrites;  // what the best Program's graph rewrites say: "simplify: ..."
  double roofline_seconds = 0;        // the least time for the whole task; 0: unknown
  std::vector<KernelShare> kernels_before, kernels_after;  // of the start and of the best node; may be empty

  const NodeRecord& node(NodeId id) const;
  std::string answer() const;           // of a finished run: faster, at-roofline, ...; else empty
  const NodeRecord* best_node() const;  // null when nothing is certified
  const Verdict* best_verdict() const;
  std::vector<const NodeRecord*> path() const;  // from the start to the best node; empty when nothing is certified
  int evaluations() const;                      // attempts that were judged, the start not counted
};

// Everything but what the target says: its software and its cost model's figures.
Result<ReportData> load_report(Store& store, RunId run);

// Roofline time over measured time, at most what the measurement says; absent when one of them is unknown.
std::optional<double> roofline_share(const ReportData& data);

// "2.31x" and "0.084 ms" for people; absent is an en dash.
std::string format_speedup(std::optional<double> speedup);
// What a speedup can claim in a column: "2.31x", "\u22652.31x", ">1x" or "?"; an en dash without one.
std::string format_claim(const Speedup* speedup);
// "2.21x to 2.43x".
std::string format_interval(const Speedup& speedup);
std::string format_ms(std::optional<double> milliseconds);
// Null without a verdict, or when it was not measured.
const Speedup* speedup_over(const Verdict* verdict, const std::string& baseline);
// Its headline, to draw and to compare.
std::optional<double> headline_over(const Verdict* verdict, const std::string& baseline);
// A verdict in one or two words: "certified", "wrong-result", "not judged".
std::string verdict_word(const NodeRecord& node);
// "fuse linear and gelu", or "start"; what came from another node names it: "fuse linear and gelu, from node 12".
std::string step_name(const NodeRecord& node);

}  // namespace mtmc
