#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "base/rng.h"
#include "report/diff.h"
#include "report/html.h"
#include "report/result_json.h"
#include "report/sample_report.h"
#include "support/source_dir.h"

namespace mtmc {
namespace {

using testing::HasSubstr;
using testing::Not;

// --- differences ----------------------------------------------------------------------------------------------------

std::string side(const std::vector<DiffLine>& lines, DiffLine::Kind other) {
  std::string text;
  for (const DiffLine& line : lines)
    if (line.kind != other) text += line.text + "\n";
  return text;
}

TEST(Diff, BothSidesComeBackAndTheScriptIsShortest) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Rng rng(seed);
    std::string a, b;
    std::vector<std::string> x, y;
    for (uint64_t i = rng.below(12); i > 0; --i) x.push_back(std::string(1, static_cast<char>('a' + rng.below(3))));
    for (uint64_t i = rng.below(12); i > 0; --i) y.push_back(std::string(1, static_cast<char>('a' + rng.below(3))));
    for (const auto& line : x) a += line + "\n";
    for (const auto& line : y) b += line + "\n";
    const auto lines = diff_lines(a, b);
    ASSERT_EQ(side(lines, DiffLine::Kind::added), a) << "seed " << seed;
    ASSERT_EQ(side(lines, DiffLine::Kind::removed), b) << "seed " << seed;
    // The longest common subsequence, the slow way.
    std::vector<std::vector<int>> longest(x.size() + 1, std::vector<int>(y.size() + 1, 0));
    for (size_t i = 1; i <= x.size(); ++i)
      for (size_t j = 1; j <= y.size(); ++j)
        longest[i][j] =
            x[i - 1] == y[j - 1] ? longest[i - 1][j - 1] + 1 : std::max(longest[i - 1][j], longest[i][j - 1]);
    const auto same =
        std::count_if(lines.begin(), lines.end(), [](const DiffLine& l) { return l.kind == DiffLine::Kind::same; });
    ASSERT_EQ(same, longest[x.size()][y.size()]) << "seed " << seed;
  }
}

TEST(Diff, UnifiedText) {
  EXPECT_EQ(unified_diff("a\nb\nc\n", "a\nx\nc\n"), "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n");
  EXPECT_EQ(unified_diff("a\n", "a\n"), "");
  std::string far = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
  EXPECT_EQ(hunks(diff_lines(far, "0\n" + far + "13\n")).size(), 2u);
}

// --- result.json ----------------------------------------------------------------------------------------------------

TEST(ResultJson, HasEveryDocumentedField) {
  const Json json = result_json(sample_report());
  for (const char* field :
       {"task", "target", "certified", "estimated", "degenerate", "official", "legacy", "accuracy_class", "speedup",
        "time_ms", "roofline_share", "own_kernel_share", "steps", "evaluations", "seconds"})
    EXPECT_TRUE(json.contains(field) && !json[field].is_null()) << field;
  EXPECT_EQ(json["certified"], true);
  EXPECT_NEAR(json["speedup"]["eager"], 1.93 / 0.81, 1e-9);
  EXPECT_NEAR(json["roofline_share"], 0.56 / 0.81, 1e-9);
  ASSERT_EQ(json["steps"].size(), 3u);
  EXPECT_EQ(json["steps"][1]["action"], "fuse %4 %5");
  EXPECT_EQ(json["steps"][1]["region"], "fuse linear and gelu in lines 11-34");
  EXPECT_EQ(json["steps"][2]["verdict"], "certified");
  const Json& interval = json["speedup_interval"]["eager"];
  EXPECT_EQ(interval["claim"], "clear");
  EXPECT_LT(interval["low"], interval["median"]);
  EXPECT_GT(interval["high"], interval["median"]);
  EXPECT_EQ(interval["level"], 0.99);
  const auto documented = read_file(source_dir() + "/docs/RESULTS.md");
  ASSERT_TRUE(documented.ok());
  for (const auto& [field, value] : json.items()) EXPECT_THAT(*documented, HasSubstr("`" + field + "`"));
}

TEST(ResultJson, OfAWideIntervalTheSpeedupIsTheLowEnd) {
  ReportData data = sample_report();
  for (NodeRecord& node : data.nodes)
    if (node.id == data.best) node.certify->speedup["eager"] = {35.67, 4, INFINITY};
  const Json json = result_json(data);
  EXPECT_EQ(json["speedup"]["eager"], 4.0);
  EXPECT_EQ(json["steps"].back()["speedup"], 4.0);
  EXPECT_EQ(json["speedup_interval"]["eager"]["claim"], "faster");
  EXPECT_TRUE(json["speedup_interval"]["eager"]["high"].is_null());
}

TEST(ResultJson, AScreenedResultIsNotCertified) {
  ReportData data = sample_report();
  for (NodeRecord& node : data.nodes) node.certify.reset();
  EXPECT_EQ(result_json(data)["certified"], false);
  EXPECT_EQ(result_json(data)["tier"], "screen");
}

TEST(ResultJson, NothingCertifiedIsNull) {
  ReportData data = sample_report();
  data.best = kNoNode;
  const Json json = result_json(data);
  EXPECT_EQ(json["certified"], false);
  EXPECT_TRUE(json["speedup"]["eager"].is_null());
  EXPECT_TRUE(json["node"].is_null());
  EXPECT_EQ(json["steps"].size(), 0u);
  EXPECT_TRUE(json["refusal"].is_null()) << "nobody said that it was refused";
}

TEST(ResultJson, ARefusedTaskSaysWhy) {
  ReportData data = sample_report();
  data.best = kNoNode, data.run.conclusion->answer = "refused";
  Verdict verdict = *data.nodes.front().verdict();
  verdict.outcome = Outcome::ill_conditioned, verdict.reason = "ill-conditioned", verdict.message = "all is rounding";
  data.nodes.front().screen = verdict, data.nodes.front().certify.reset();
  EXPECT_EQ(result_json(data)["refusal"], (Json{{"reason", "ill-conditioned"}, {"message", "all is rounding"}}));
}

TEST(ResultJson, RefusedAttemptsAreCountedByReason) {
  ReportData data = sample_report();
  for (NodeRecord& node : data.nodes) {
    node.certify.reset();
    Verdict verdict;
    verdict.reason = "wrong-result", verdict.message = "of node " + std::to_string(node.id);
    node.screen = verdict;
  }
  ASSERT_GT(data.nodes.size(), 2u);
  const Json told = result_json(data)["refused"];
  EXPECT_EQ(told,
            (Json{{"wrong-result",
                   {{"count", data.nodes.size() - 1}, {"message", "of node " + std::to_string(data.nodes[1].id)}}}}))
      << "the start is the task's own program";
}

// A certification whose candidate was not chosen says what it found: the answer may be none of the first ones.
TEST(ResultJson, EveryCertificationIsThere) {
  ReportData data = sample_report();
  ASSERT_GT(data.nodes.size(), 2u);
  for (NodeRecord& node : data.nodes) node.certify.reset();
  Verdict slow, refused;
  slow.tier = refused.tier = Tier::certify;
  slow.outcome = Outcome::certified, slow.time_ms = 2.5, slow.seconds = 7;
  slow.speedup["eager"] = {1.1, 0.9, 1.3};
  refused.outcome = Outcome::refused, refused.reason = "precision";
  data.nodes[1].certify = slow, data.nodes[2].certify = refused;
  const Json told = result_json(data)["certifications"];
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0]["node"], data.nodes[1].id);
  EXPECT_EQ(told[0]["outcome"], "certified");
  EXPECT_TRUE(told[0]["reason"].is_null());
  EXPECT_EQ(told[0]["time_ms"], 2.5);
  EXPECT_EQ(told[0]["speedup_interval"]["eager"]["claim"], "unclear");
  EXPECT_EQ(told[0]["seconds"], 7.0);
  EXPECT_EQ(told[1]["outcome"], "refused");
  EXPECT_EQ(told[1]["reason"], "precision");
  EXPECT_TRUE(told[1]["time_ms"].is_null());
}

// --- report.html ----------------------------------------------------------------------------------------------------

// Every element that is opened is closed, in order.
void expect_balanced(const std::string& html) {
  const std::set<std::string> empty = {"meta", "br", "!doctype"};
  std::vector<std::string> open;
  for (size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
    const bool closing = html[at + 1] == '/';
    const size_t start = at + 1 + closing, end = html.find_first_of(" \n>/", start);
    const std::string name = html.substr(start, end - start);
    if (closing) {
      ASSERT_FALSE(open.empty());
      ASSERT_EQ(open.back(), name) << html.substr(at > 200 ? at - 200 : 0, 260);
      open.pop_back();
    } else if (!empty.count(name) && html[html.find('>', at) - 1] != '/') {
      open.push_back(name);
      if (name == "script" || name == "style") at = html.find("</" + name, at) - 1;
    }
  }
  EXPECT_TRUE(open.empty());
}

TEST(HtmlReport, OneSelfContainedWellFormedPage) {
  const std::string html = html_report(sample_report());
  // To look at it: MTMC_SAMPLE_REPORT=FILE.html test_report
  const char* path = std::getenv("MTMC_SAMPLE_REPORT");
  if (path != nullptr) {
    ASSERT_TRUE(write_file(path, html).ok());
  }
  expect_balanced(html);
  for (const char* request : {"http://", "https://", " src=", "<link", "@import", "url("})
    EXPECT_THAT(html, Not(HasSubstr(request)));
  for (const char* part :
       {"2.38×", "1.74×", "69 %", "✓ certified", "Every attempt", "Speedup per step", "Where the time goes",
        "The evidence", "from kernel import ModelNew", "ModelNew(512, 2048)", "x f32[64,512]",
        "mtmc verify gelu_mlp.py kernel.py", "prefers-color-scheme: dark", "fuse linear and gelu"})
    EXPECT_THAT(html, HasSubstr(part));
}

TEST(HtmlReport, WhatIsCrossedLinksItsOtherParent) {
  ReportData data = sample_report();
  data.nodes[4].partner = 2;
  EXPECT_THAT(html_report(data), HasSubstr("crossed with <a href='#n2'>node 2</a>"));
}

TEST(HtmlReport, EveryLinkHasItsTarget) {
  const std::string html = html_report(sample_report());
  for (size_t at = html.find("href='#"); at != std::string::npos; at = html.find("href='#", at + 1)) {
    const size_t start = at + 7;
    const std::string id = html.substr(start, html.find('\'', start) - start);
    EXPECT_THAT(html, HasSubstr("id='" + id + "'"));
  }
}

TEST(HtmlReport, NothingFromOutsideIsMarkup) {
  const std::string bad = "<img src=x onerror=alert(1)>'\"&";
  ReportData data = sample_report();
  data.run.task.name = data.run.hardware.name = data.run.target = data.run.started = data.run.evaluator = bad;
  data.rewrites = {bad}, data.run.conclusion = Conclusion{bad, data.best};
  data.run.options = Json({{bad, bad}}).dump(),
  data.run.task.json = Json({{"file", bad}, {"attr", bad}, {"init_args", {bad}}}).dump();
  for (KernelShare& kernel : data.kernels_after) kernel.name = kernel.what = bad;
  for (NodeRecord& node : data.nodes) {
    node.action = node.rendered = node.coder = node.note = bad;
    if (node.failure.empty()) node.code += bad;
    if (!node.failure.empty()) node.failure = bad;
    for (auto* verdict : {&node.screen, &node.certify}) {
      if (!verdict->has_value()) continue;
      (*verdict)->message = (*verdict)->accuracy_class = (*verdict)->sandbox = (*verdict)->weights = bad;
      (*verdict)->library_use = (*verdict)->evaluator = bad;
      if (!(*verdict)->reason.empty()) (*verdict)->reason = bad;
      (*verdict)->notes = {bad};
      (*verdict)->times[bad] = {{1}, 1, 0};
      for (OutputError& error : (*verdict)->errors) error.draw = error.output = error.broken = bad;
    }
  }
  const std::string html = html_report(data);
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_THAT(html, HasSubstr("&lt;img src=x onerror=alert(1)&gt;&#39;&quot;&amp;"));
  expect_balanced(html);
}

TEST(HtmlReport, NumbersThatWereTimedAreAList) {
  ReportData data = sample_report();
  data.nodes[3].note =
      R"({"tuning":{"k1":[{"ms":0.9361,"numbers":{"unroll":4}},{"note":"hopeless","numbers":{"unroll":2}}]},"old":1})";
  data.nodes[4].note = R"({"tuning":{"k1":["<img"]}})";
  data.nodes[5].note = "no JSON <img";
  const std::string html = html_report(data);
  expect_balanced(html);
  EXPECT_THAT(html, HasSubstr("versions of k1 that were timed: unroll 4: 0.936 ms · unroll 2: hopeless<br>"));
  EXPECT_THAT(html, HasSubstr("coder's note: <code>{&quot;old&quot;:1}</code>"));
  EXPECT_THAT(html, Not(HasSubstr("<img")));
}

TEST(HtmlReport, ARunWithoutAnythingCertified) {
  ReportData data = sample_report();
  data.nodes.resize(1);
  data.nodes[0].certify.reset();
  data.nodes[0].screen->outcome = Outcome::refused, data.nodes[0].screen->reason = "nondeterministic";
  data.best = kNoNode, data.kernels_after.clear(), data.roofline_seconds = 0;
  const std::string html = html_report(data);
  expect_balanced(html);
  EXPECT_THAT(html, HasSubstr("nothing certified"));
  EXPECT_THAT(html, HasSubstr("nondeterministic"));
}

std::string report_with(const Speedup& eager) {
  ReportData data = sample_report();
  for (NodeRecord& node : data.nodes)
    if (node.id == data.best) node.certify->speedup["eager"] = eager;
  return html_report(data);
}

TEST(HtmlReport, SaysWhenTheTimingProvesNothing) {
  EXPECT_THAT(html_report(sample_report()), Not(HasSubstr("busy machine")));
  const std::string unclear = report_with({35.67, 0.17, 51.7});
  EXPECT_THAT(unclear, HasSubstr("busy machine"));
  EXPECT_THAT(unclear, HasSubstr("A ? means"));
  EXPECT_THAT(unclear, HasSubstr("0.17× to 51.7×"));
  EXPECT_THAT(unclear, HasSubstr("<b>This machine was too busy to compare it with eager PyTorch</b>"));
  const std::string faster = report_with({35.67, 3, 51.7});
  EXPECT_THAT(faster, HasSubstr("<b>Faster, but this machine was too busy to say by how much</b>"));
  EXPECT_THAT(faster, Not(HasSubstr(">35.7×<")));
  expect_balanced(unclear);
  expect_balanced(faster);
}

TEST(HtmlReport, OfWhatIsSlowerBothEndsOfAWideIntervalAreTheHeadline) {
  EXPECT_THAT(report_with({0.5, 0.2, 0.9}), HasSubstr("0.20× to 0.90× as fast as eager PyTorch"));
}

TEST(HtmlReport, TheLowEndOfAWideIntervalIsTheHeadline) {
  const std::string wide = report_with({2.4, 2.21, 2.6});
  EXPECT_THAT(wide, HasSubstr("<b>At least 2.21× as fast as eager PyTorch</b>"));
  EXPECT_THAT(wide, HasSubstr("<div class='figure'>≥2.21×</div>"));
  EXPECT_THAT(wide, HasSubstr("99 % sure: 2.21× to 2.60×"));
  EXPECT_THAT(wide, Not(HasSubstr("busy machine")));
}

TEST(HtmlReport, AnEstimateClaimsNothingAboutCorrectness) {
  ReportData data = sample_report();
  for (NodeRecord& node : data.nodes)
    for (auto* verdict : {&node.screen, &node.certify})
      if (verdict->has_value()) (*verdict)->errors.clear(), (*verdict)->evaluator = "cost-1";
  const std::string html = html_report(data);
  EXPECT_THAT(html, HasSubstr("<b>By the cost model "));
  EXPECT_THAT(html, Not(HasSubstr("measured in the same rounds")));
  EXPECT_THAT(html, Not(HasSubstr(">certified<")));
  EXPECT_THAT(html, HasSubstr("estimated, nothing was run"));
  EXPECT_THAT(html, Not(HasSubstr("deterministic:")));
  EXPECT_THAT(html, Not(HasSubstr("✓ certified")));
}

TEST(HtmlReport, AnUnfinishedRunWithoutAttempts) {
  ReportData data = sample_report();
  data.nodes.clear(), data.best = kNoNode, data.run.state = RunState::running;
  data.kernels_before.clear(), data.kernels_after.clear();
  const std::string html = html_report(data);
  expect_balanced(html);
  EXPECT_THAT(html, HasSubstr("run running"));
}

}  // namespace
}  // namespace mtmc
