#include "report/sample_report.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "store/store.h"

namespace mtmc {
namespace {

constexpr const char* kGraph = R"(program gelu_mlp {
  %0 = input "x" : f32[64,512]
  %1 = param "fc1.weight" : f32[2048,512]
  %2 = param "fc1.bias" : f32[2048]
  %3 = param "fc2.weight" : f32[512,2048]
  %4 = linear(%0, %1, %2) : f32[64,2048]  @ gelu_mlp.py:15
  %5 = gelu(%4) : f32[64,2048]  @ gelu_mlp.py:15
  %6 = linear(%5, %3, none) : f32[64,512]  @ gelu_mlp.py:16
  return %6
}
)";

std::string program(const std::string& kernels) { return kGraph + kernels; }

std::string code(int variant) {
  const bool lowered = variant > 0, fused = variant > 1, tiled = variant > 2;
  std::string text =
      "\"\"\"GELU MLP from gelu_mlp.py, as a standalone module. Made by mtmc for <cpu>.\"\"\"\nimport ctypes\n";
  text += "import torch\nimport torch.nn.functional as F\n\n";
  if (lowered) {
    text += "SOURCE = r\"\"\"\n#include <cmath>\n#include <cstdint>\n\n";
    text += fused ? "// linear, gelu: gelu_mlp.py:15\n" : "// gelu: gelu_mlp.py:15\n";
    text += fmt::format("extern \"C\" void k1_{}gelu(const float* x, const float* w, const float* b, float* y) {{\n",
                        fused ? "linear_" : "");
    text += "#pragma omp parallel for schedule(static)\n";
    text += tiled ? "  for (int64_t i0 = 0; i0 < 64; i0 += 16) {\n    float tile[16][64];\n"
                  : "  for (int64_t i = 0; i < 64; ++i) {\n";
    for (int k = 0; k < 14; ++k)
      text += fmt::format("    y[i * 2048 + {0}] = 0.5f * x[{0}] * (1.0f + erff(x[{0}] * 0.70710678f));{1}\n", k,
                          tiled && k % 4 == 0 ? "  /* one lane */" : "");
    text += "  }\n}\n\"\"\"\n\n";
  }
  text +=
      "\nclass ModelNew(torch.nn.Module):\n    def __init__(self, width=512, hidden=2048):\n        "
      "super().__init__()\n";
  text +=
      "        self.fc1 = torch.nn.Linear(width, hidden)\n        self.fc2 = torch.nn.Linear(hidden, width, "
      "bias=False)\n\n";
  text +=
      "    def forward(self, x):\n        # the shapes this file was made for\n        if tuple(x.shape) != (64, "
      "512):\n";
  text += "            raise ValueError(f\"x has shape {tuple(x.shape)}, wanted (64, 512)\")\n";
  text += fused     ? "        h = k1_linear_gelu(x, self.fc1.weight, self.fc1.bias)\n"
          : lowered ? "        h = k1_gelu(F.linear(x, self.fc1.weight, self.fc1.bias))\n"
                    : "        h = F.gelu(F.linear(x, self.fc1.weight, self.fc1.bias))\n";
  return text + "        return F.linear(h, self.fc2.weight)\n";
}

Timing timing(double median_ms, Rng& rng, int samples) {
  Timing t;
  for (int i = 0; i < samples; ++i) t.samples_ms.push_back(median_ms * (0.96 + 0.1 * rng.uniform()));
  t.median_ms = median_ms, t.spread_ms = median_ms * 0.045;
  return t;
}

Verdict passed(double time_ms, Tier tier, Rng& rng) {
  Verdict v;
  v.tier = tier, v.outcome = Outcome::certified, v.stage = "timing";
  v.message = fmt::format("{} draws within their limits", tier == Tier::certify ? 10 : 2);
  v.official = v.legacy = true;
  v.accuracy_class = "fp32";
  v.draws = {"task-0",    "task-1",      "task-2",   "task-3",  "task-4",
             "scaled-up", "scaled-down", "negative", "one-hot", "non-contiguous"};
  if (tier == Tier::screen) v.draws = {"task-0", "scaled-up"};
  for (const std::string& draw : v.draws) {
    const double budget = 2.1e-7 * (0.8 + 0.4 * rng.uniform());
    v.errors.push_back(
        {draw, "0", budget * (0.6 + 0.7 * rng.uniform()), 2 * budget + 5.4e-7, 3.1e-6, 2.2e-5, budget, true, ""});
  }
  v.errors.back().counts = v.draws.back() != "non-contiguous";
  v.time_ms = time_ms;
  const int samples = tier == Tier::certify ? 40 : 10;
  v.times = {{"candidate", timing(time_ms, rng, samples)},
             {"eager", timing(1.93, rng, samples)},
             {"compile", timing(1.41, rng, samples)}};
  for (const auto& [name, ms] : {std::pair{"eager", 1.93}, std::pair{"compile", 1.41}})
    v.speedup[name] = {ms / time_ms, 0.98 * ms / time_ms, 1.02 * ms / time_ms};
  v.own_kernel_share = 0.62, v.library_use = "BLAS", v.weights = "by-name";
  v.sandbox = "bubblewrap", v.seconds = tier == Tier::certify ? 6.4 : 0.7, v.evaluator = "mtmc judge 1";
  return v;
}

Verdict refused(const std::string& reason, const std::string& stage, const std::string& message) {
  Verdict v;
  v.outcome = Outcome::refused, v.stage = stage, v.reason = reason, v.message = message;
  v.sandbox = "bubblewrap", v.seconds = 0.9, v.evaluator = "mtmc judge 1";
  return v;
}

struct Builder {
  Store& store;
  RunId run;
  Rng rng{3};
  int made = 0;

  NodeId add(NodeId parent, int step, const std::string& action, const std::string& rendered, const std::string& text,
             const std::string& kernels, std::optional<Verdict> screen, std::optional<Verdict> certify = {}) {
    NodeRecord node;
    node.run = run, node.parent = parent, node.step = step, node.action = action, node.rendered = rendered;
    node.coder = parent == kNoNode ? "start" : "builtin";
    node.program = program(kernels), node.code = text, node.screen = std::move(screen),
    node.certify = std::move(certify);
    if (!text.empty()) node.code += fmt::format("# attempt {}\n", made++);
    if (text.empty()) node.failure = "no shared axes: <softmax> and linear cannot be one kernel";
    return store.add_node(node).value();
  }
  Verdict screen(double ms) { return passed(ms, Tier::screen, rng); }
};

// The result's node.
NodeId fill(Builder b) {
  const char* k0 = "kernel k0 = { %4 } library\nkernel k1 = { %5 } library\nkernel k2 = { %6 } library\n";
  const char* k1 = "kernel k0 = { %4 } library\nkernel k1 = { %5 } pointwise | unroll:4\nkernel k2 = { %6 } library\n";
  const char* k2 = "kernel k1 = { %4 %5 } contraction | m:16 n:64\nkernel k2 = { %6 } library\n";
  const char* k3 = "kernel k1 = { %4 %5 } contraction tiled | m:16 n:64 k:256\nkernel k2 = { %6 } library\n";
  const NodeId start = b.add(kNoNode, 0, "", "", code(0), k0, b.screen(1.95), passed(1.94, Tier::certify, b.rng));
  b.add(start, 1, "lower %4", "lower linear in line 34", code(1), k1, b.screen(2.9));
  b.add(start, 1, "lower %6", "lower linear in line 35", code(1), k1, b.screen(2.4));
  const NodeId lowered = b.add(start, 1, "lower %5", "lower gelu in line 34", code(1), k1, b.screen(1.52));
  b.add(start, 1, "capture", "capture all kernels", code(0), k0, b.screen(1.97));
  b.add(lowered, 2, "tile %5", "tile gelu in lines 11-27", code(1), k1, b.screen(1.5));
  b.add(lowered, 2, "fuse %5 %6", "fuse gelu and linear in lines 11-35", "", k1, {});
  const NodeId wrong =
      b.add(lowered, 2, "precision %4", "precision linear in line 34", code(1), k1,
            refused("precision", "correctness", "output 0 on task-0: relative error 3.1e-4, limit 9.7e-7"));
  b.add(wrong, 3, "fuse %4 %5", "fuse linear and gelu in lines 11-34", code(2), k2,
        refused("wrong-result", "correctness", "output 0 on scaled-up: relative error 0.31, limit 9.5e-7"));
  const NodeId fused =
      b.add(lowered, 2, "fuse %4 %5", "fuse linear and gelu in lines 11-34", code(2), k2, b.screen(1.04));
  b.add(fused, 3, "pipeline %4 %5", "pipeline linear and gelu in lines 11-27", code(2), k2, b.screen(1.08));
  b.add(fused, 3, "split %6", "split linear in line 35", code(2), k2,
        refused("timed-out", "run", "the first call took longer than 5 s"));
  const NodeId tiled = b.add(fused, 3, "tile %4 %5", "tile linear and gelu in lines 11-27", code(3), k3, b.screen(0.79),
                             passed(0.81, Tier::certify, b.rng));
  b.add(tiled, 4, "reorder %6 rows", "reorder linear in line 36", code(3), k3, b.screen(0.88));
  b.add(tiled, 4, "lower %6", "lower linear in line 36", code(3), k3,
        refused("compile-error", "compile", "kernel.cpp:41: error: 'acc' was not declared in this scope"));
  return tiled;
}

}  // namespace

ReportData sample_report() {
  auto store = open_store(":memory:").value();
  RunRecord run;
  run.task = {"gelu_mlp",
              R"({"name":"gelu_mlp","file":"/home/u/examples/gelu_mlp.py","attr":"Model","init_args":[512,2048]})"};
  run.task_hash = hash_task(run.task, "");
  run.target = "cpu";
  run.hardware = null_hardware();
  run.hardware.name = "AMD EPYC 9554 64-Core Processor, 2 cores";
  run.options = R"({"actions":"all","coder":"builtin","policy":"greedy","strategy":"beam","steps":8,"width":4})";
  run.shell = "{}", run.seed = 0, run.evaluator = "mtmc judge 1";
  const RunId id = store->begin_run(run).value();
  const NodeId best = fill({*store, id});
  EXPECT_TRUE(store->finish_run(id, 37.6, Conclusion{"faster", best}).ok());
  ReportData data = load_report(*store, id).value();
  data.roofline_seconds = 0.56e-3;
  data.kernels_before = {{"k0", "linear", 0.74e-3, 0.46e-3, 4.9e6, 134e6, false},
                         {"k1", "gelu", 0.61e-3, 0.05e-3, 1e6, 1.2e6, false},
                         {"k2", "linear", 0.52e-3, 0.44e-3, 4.8e6, 134e6, false}};
  data.kernels_after = {{"k1", "linear, gelu", 0.43e-3, 0.33e-3, 4.9e6, 135e6, true},
                        {"k2", "linear", 0.39e-3, 0.31e-3, 4.8e6, 134e6, false}};
  return data;
}

TEST(SampleReport, IsARunWithAResult) {
  const ReportData data = sample_report();
  EXPECT_EQ(data.path().size(), 4u);
  EXPECT_EQ(data.evaluations(), 13);
  EXPECT_NEAR(*headline_over(data.best_verdict(), "eager"), 1.93 / 0.81, 1e-9);
}

}  // namespace mtmc
