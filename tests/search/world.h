// A small network on the null target with everything a search needs, without torch.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "coder/builtin.h"
#include "ops/op.h"
#include "search/cost_judge.h"
#include "search/optimize.h"

namespace mtmc::testing {

// softmax(relu(linear(gelu(linear(x))))): one library kernel per operator.
inline Program network() {
  Program p;
  p.name = "network";
  const auto leaf = [&](ValueKind kind, const char* name, Shape shape) {
    return add_leaf(p, kind, name, {DType::f32, std::move(shape)});
  };
  const ValueId x = leaf(ValueKind::input, "x", {4096, 64});
  const ValueId up = leaf(ValueKind::param, "up.weight", {128, 64}), up_bias = leaf(ValueKind::param, "up.bias", {128});
  const ValueId down = leaf(ValueKind::param, "down.weight", {64, 128});
  const auto node = [&](const char* op, std::vector<ValueId> inputs, Attrs attrs, const char* where) {
    return add_node(p, op, std::move(inputs), std::move(attrs), where).value()[0];
  };
  const ValueId hidden = node("gelu", {node("linear", {x, up, up_bias}, {}, "net.py:3")}, {}, "net.py:4");
  const ValueId act = node("relu", {node("linear", {hidden, down, kNoValue}, {}, "net.py:5")}, {}, "net.py:6");
  p.outputs = {node("softmax", {act}, {{"dim", int64_t{-1}}}, "net.py:7")};
  reset_kernels(p);
  return p;
}

// relu(exp(sort(x))): no action lowers the sort.
inline Program sorted() {
  return parse_program(R"(program sorted {
  %0 = input "x" : f32[512,512]
  %1, %2 = library(%0, args="{0}", call="aten.sort.default", types="f32[512,512] i64[512,512]") : f32[512,512], i64[512,512]
  %3 = exp(%1) : f32[512,512]
  %4 = relu(%3) : f32[512,512]
  return %4
}
kernel a = { %1 %2 } library
kernel b = { %3 } library
kernel c = { %4 } library
)")
      .value();
}

// Two chains beside each other, nowhere alike: what is done in one can be done beside what is done in the other.
inline Program branches() {
  Program p;
  p.name = "branches";
  for (const auto& [name, last, rows] : {std::tuple{"left", "softmax", 4096}, std::tuple{"right", "relu", 2048}}) {
    const auto leaf = [&](ValueKind kind, const std::string& of, Shape shape) {
      return add_leaf(p, kind, std::string(name) + of, {DType::f32, std::move(shape)});
    };
    const ValueId x = leaf(ValueKind::input, "", {rows, 64}), weight = leaf(ValueKind::param, ".weight", {128, 64});
    const auto node = [&](const char* op, std::vector<ValueId> inputs, Attrs attrs) {
      return add_node(p, op, std::move(inputs), std::move(attrs), "net.py:1").value()[0];
    };
    const ValueId up = node("gelu", {node("linear", {x, weight, kNoValue}, {})}, {});
    const bool softmax = std::string(last) == "softmax";
    p.outputs.push_back(node(last, {up}, softmax ? Attrs{{"dim", int64_t{-1}}} : Attrs{}));
  }
  reset_kernels(p);
  return p;
}

// Passes everything on to a judge, after a look at it.
class WatchedJudge final : public Judge {
 public:
  using Watch = std::function<void(const Candidate&, Tier, Verdict&)>;
  WatchedJudge(Judge& inner, Watch watch) : inner_(inner), watch_(std::move(watch)) {}
  void tell(std::function<void(const std::string&)> told) override { told_ = std::move(told); }
  Result<Verdict> judge(const Task& task, const Candidate& candidate, Tier tier) override {
    if (told_) told_(tier == Tier::screen ? "screening" : "certifying"), told_("");
    MTMC_TRY(Verdict verdict, inner_.judge(task, candidate, tier));
    ++calls;
    watch_(candidate, tier, verdict);
    return verdict;
  }
  Status prepare(const Task&, const Candidate& candidate) override {
    prepared.push_back(candidate.code);
    return ok_status();
  }
  int calls = 0;
  std::vector<std::string> prepared;

 private:
  Judge& inner_;
  Watch watch_;
  std::function<void(const std::string&)> told_;
};

// Judges so many candidates, then is gone.
class Leaving final : public Judge {
 public:
  Leaving(Judge& inner, int left, double seconds = 0) : inner_(inner), left_(left), seconds_(seconds) {}
  Result<Verdict> judge(const Task& task, const Candidate& candidate, Tier tier) override {
    if (--left_ < 0) return Error{"judging", "the machine went away", "", ""};
    MTMC_TRY(Verdict verdict, inner_.judge(task, candidate, tier));
    verdict.seconds = seconds_;
    return verdict;
  }

 private:
  Judge& inner_;
  int left_;
  double seconds_;
};

// The builtin coder as it is where a tuner prepares.
class PreparingCoder final : public Coder {
 public:
  explicit PreparingCoder(Coder& inner) : inner_(inner) {}
  std::string name() const override { return inner_.name(); }
  Result<Implementation> implement(const CoderRequest& request) override {
    ++implemented;
    return inner_.implement(request);
  }
  bool prepares() const override { return true; }
  Status prepare(const CoderRequest&) override {
    EXPECT_FALSE(ended) << "nothing more is prepared once certification has begun";
    ++prepared;
    now += seconds;
    return ok_status();
  }
  Status stop_preparing() override {
    ended = true;
    return ok_status();
  }
  int prepared = 0, implemented = 0;
  bool ended = false;
  double now = 0, seconds = 0;  // the time, and how long it takes to prepare something

 private:
  Coder& inner_;
};

struct Recorder final : ProgressListener {
  void on_doing(const std::string& what, const RunStatus& status) override {
    doing.push_back(what);
    last = status;
  }
  void on_attempt(const NodeRecord& attempt, bool, const RunStatus& status) override {
    attempts.push_back(attempt);
    last = status;
  }
  std::vector<std::string> doing;
  std::vector<NodeRecord> attempts;
  RunStatus last;
};

// How a run is set up; every field can be changed before `run`.
struct World {
  explicit World(const char* target_name = "null", Program of = network(), Hardware on = null_hardware())
      : World(*find_target(target_name), std::move(of), std::move(on)) {}
  World(const TargetDef& to, Program of, Hardware on)
      : target(to), program(std::make_shared<const Program>(std::move(of))), hardware(on) {}
  const TargetDef& target;
  std::shared_ptr<const Program> program;
  Hardware hardware;
  OptimizeRequest request{.task = {"network", "{}"},
                          .source = "# net.py",
                          .description = "a network",
                          .program = program,
                          .shell = {},
                          .shell_json = "{}",
                          .target = target,
                          .hardware = hardware,
                          .evaluator = CostJudge::kVersion,
                          .paper_only = false,
                          .limits = {.steps = 6, .seconds = 0, .evaluations = 20},
                          .strategy_options = {},
                          .seed = 1};
  std::string policy = "greedy", strategy = "beam";
  std::unique_ptr<Store> store = open_store(":memory:").value();
  CostJudge judge{*request.program, target, hardware};
  BuiltinCoder coder{request.target, request.hardware, request.shell, *store, nullptr};
  Recorder recorder;

  std::unique_ptr<Coder> builtin() {
    return std::make_unique<BuiltinCoder>(request.target, request.hardware, request.shell, *store, nullptr);
  }
  Result<Optimized> run() { return run(judge, coder); }
  Result<Optimized> run(Judge& with) { return run(with, coder); }
  Result<Optimized> run(Judge& with, Coder& by) {
    const auto chosen = find_policy(policy)->make({hardware, request.target, request.paper_only, request.seed}).value();
    return run(with, by, *chosen);
  }
  Result<Optimized> run(Judge& with, Coder& by, Policy& wanted) {
    return optimize(request, with, *store, by, wanted, *find_strategy(strategy), recorder);
  }
};

// What was tried, in order: "1 fuse %4 %5".
inline std::vector<std::string> tried(const std::vector<NodeRecord>& attempts) {
  std::vector<std::string> lines;
  for (const NodeRecord& attempt : attempts)
    lines.push_back(std::to_string(attempt.step) + " " + attempt.action + " " + attempt.state_hash);
  return lines;
}

}  // namespace mtmc::testing
