#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "coder/builtin.h"
#include "coder/faulty.h"
#include "ops/op.h"

namespace mtmc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// relu(x) and relu(y) of one shape, tanh(x) of another dtype-equal shape: two isomorphic kernels and one that is not.
Program three_activations() {
  Program p;
  p.name = "three";
  const ValueId x = add_leaf(p, ValueKind::input, "x", {DType::f32, {64, 32}});
  const ValueId y = add_leaf(p, ValueKind::param, "y", {DType::f32, {64, 32}});
  const ValueId a = add_node(p, "relu", {x}, {}, "three.py:1").value()[0];
  const ValueId b = add_node(p, "relu", {y}, {}, "three.py:2").value()[0];
  const ValueId c = add_node(p, "tanh", {x}, {}, "three.py:3").value()[0];
  p.outputs = {a, b, c};
  reset_kernels(p);
  for (Kernel& kernel : p.kernels) kernel.family = Family::pointwise;
  return p;
}

// Says that a version is as slow as its tile is far from 32.
struct FakeTuner final : Tuner {
  Result<std::vector<Measured>> measure(const std::vector<std::string>& modules, const std::vector<TensorType>& types,
                                        double, double build_seconds) override {
    ++calls;
    inputs = types, last_build_seconds = build_seconds;
    if (broken) return Error{"tuning a kernel", "closed", "", ""};
    std::vector<Measured> measured;
    if (nothing_runs) return std::vector<Measured>(modules.size(), Measured{{}, "the device is busy"});
    for (const std::string& module : modules) {
      texts.push_back(module);
      const double tile = std::stod(module.substr(module.find("tile:") + 5));
      measured.push_back(tile > 100 && build_seconds < kBuildSeconds ? Measured{{}, kNotInTime}
                                                                     : Measured{std::abs(tile - 32), ""});
    }
    return measured;
  }
  bool prepares() const override { return true; }
  Status prepare(const std::vector<std::string>& modules, const std::vector<TensorType>&) override {
    prepared.insert(prepared.end(), modules.begin(), modules.end());
    return ok_status();
  }
  int calls = 0;
  bool broken = false, nothing_runs = false;
  double last_build_seconds = 0;
  std::vector<std::string> prepared;
  std::vector<std::string> texts;
  std::vector<TensorType> inputs;
};

// The null target with numbers to choose.
TargetDef tunable_null() {
  TargetDef target = *find_target("null");
  target.candidates = [](const Program&, const Kernel& kernel, const Hardware&) {
    std::vector<std::map<std::string, int64_t>> numbers;
    if (kernel.has("tiled")) numbers = {{{"tile", 64}}, {{"tile", 32}}, {{"tile", 128}}};
    return numbers;
  };
  return target;
}

struct Bench {
  Hardware hardware = null_hardware();
  ModuleShell shell;
  std::unique_ptr<Store> store = open_store(":memory:").value();
  const TargetDef target = tunable_null();
  FakeTuner tuner;

  // Tiles the kernels of these values.
  Result<Implementation> tile(const Program& program, std::vector<std::vector<ValueId>> regions,
                              std::function<double()> seconds_left = {}) {
    BuiltinCoder coder(target, hardware, shell, *store, &tuner);
    const CodeState state{std::make_shared<const Program>(program), target.emit(program, hardware, shell).value()};
    CoderRequest request{state, Action{"tile", std::move(regions), ""}};
    request.seconds_left = std::move(seconds_left);
    return coder.implement(request);
  }
};

TEST(BuiltinCoder, MeasuresTheVersionsAndTakesTheFastest) {
  Bench bench;
  const auto made = bench.tile(three_activations(), {{2}});
  ASSERT_TRUE(made.ok()) << made.error().message();
  EXPECT_EQ(bench.tuner.calls, 1);
  EXPECT_EQ(bench.tuner.texts.size(), 3u);
  EXPECT_THAT(bench.tuner.inputs, ElementsAre(TensorType{DType::f32, {64, 32}}));
  EXPECT_EQ(made->program->kernels[0].number("tile", 0), 32);
  EXPECT_THAT(made->code.text, HasSubstr("tile:32"));
  EXPECT_EQ(Json::parse(made->notes)["tuning"]["k0"].size(), 3u);
}

TEST(BuiltinCoder, BuildsNoLongerThanTheSearchHasAndForgetsWhatWasCutShort) {
  Bench bench;
  ASSERT_TRUE(bench.tile(three_activations(), {{2}}, [] { return 5.0; }).ok());
  EXPECT_EQ(bench.tuner.last_build_seconds, 5);
  ASSERT_TRUE(bench.tile(three_activations(), {{2}}, [] { return 0.1; }).ok());
  EXPECT_EQ(bench.tuner.last_build_seconds, 3) << "else nothing would be built";
  ASSERT_TRUE(bench.tile(three_activations(), {{2}}).ok());
  EXPECT_EQ(bench.tuner.calls, 3) << "one version was missing before";
  EXPECT_EQ(bench.tuner.last_build_seconds, kBuildSeconds);
  ASSERT_TRUE(bench.tile(three_activations(), {{2}}, [] { return 5.0; }).ok());
  EXPECT_EQ(bench.tuner.calls, 3) << "all of it is known";
}

// Two parts, each fastest with a number of its own; only the kernel as a whole is timed.
struct TunerOfParts final : Tuner {
  Result<std::vector<Measured>> measure(const std::vector<std::string>& modules, const std::vector<TensorType>&, double,
                                        double) override {
    std::vector<Measured> measured;
    for (const std::string& module : modules) {
      const auto number = [&](const std::string& key) {
        return std::stod(module.substr(module.find(key) + key.size()));
      };
      measured.push_back({100 + std::abs(number(" tile:") - 32) + std::abs(number("of8_tile:") - 16), ""});
    }
    tried = modules.size();
    return measured;
  }
  size_t tried = 0;
};

TEST(BuiltinCoder, TakesTheBestOfEachPart) {
  Bench bench;
  TargetDef target = bench.target;
  target.candidates = [](const Program&, const Kernel& kernel, const Hardware&) {
    std::vector<std::map<std::string, int64_t>> numbers;
    if (!kernel.has("tiled")) return numbers;
    for (const int64_t tile : {64, 32, 128}) numbers.push_back({{"of8_tile", 64}, {"tile", tile}});
    for (const int64_t tile : {32, 16, 128}) numbers.push_back({{"of8_tile", tile}, {"tile", 64}});
    return numbers;
  };
  TunerOfParts tuner;
  BuiltinCoder coder(target, bench.hardware, bench.shell, *bench.store, &tuner);
  const Program p = three_activations();
  const CodeState state{std::make_shared<const Program>(p), target.emit(p, bench.hardware, bench.shell).value()};
  const auto made = coder.implement({state, Action{"tile", {{2}}, ""}});
  ASSERT_TRUE(made.ok()) << made.error().message();
  EXPECT_EQ(tuner.tried, 6u);
  EXPECT_EQ(made->program->kernels[0].number("tile", 0), 32);
  EXPECT_EQ(made->program->kernels[0].number("of8_tile", 0), 16);
}

TEST(BuiltinCoder, TunesNothingTwice) {
  Bench bench;
  const Program p = three_activations();
  const auto one = bench.tile(p, {{2}});
  ASSERT_TRUE(one.ok());
  const auto other = bench.tile(*one->program, {{3}});  // isomorphic to what was tuned
  ASSERT_TRUE(other.ok()) << other.error().message();
  EXPECT_EQ(bench.tuner.calls, 1);
  EXPECT_EQ(other->program->kernels[1].numbers, one->program->kernels[0].numbers);
  const auto both = bench.tile(p, {{2}, {3}});
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(bench.tuner.calls, 1);
  EXPECT_EQ(program_hash(*both->program), program_hash(*other->program));
}

TEST(BuiltinCoder, ATuningIsRememberedByTheTextsOfItsVersions) {
  Bench bench;
  const Program p = three_activations();
  ASSERT_TRUE(bench.tile(p, {{2}}).ok());
  ASSERT_TRUE(bench.tile(p, {{2}}).ok());
  EXPECT_EQ(bench.tuner.calls, 1);
  TargetDef other = bench.target;
  other.emit = [](const Program& program, const Hardware& hardware, const ModuleShell& shell) -> Result<Code> {
    MTMC_TRY(Code code, find_target("null")->emit(program, hardware, shell));
    code.text += "# printed otherwise\n";
    return code;
  };
  BuiltinCoder coder(other, bench.hardware, bench.shell, *bench.store, &bench.tuner);
  const CodeState state{std::make_shared<const Program>(p), other.emit(p, bench.hardware, bench.shell).value()};
  ASSERT_TRUE(coder.implement({state, Action{"tile", {{2}}, ""}}).ok());
  EXPECT_EQ(bench.tuner.calls, 2) << "what is compiled has changed";
}

TEST(BuiltinCoder, PreparesWhatItWillMeasure) {
  Bench bench;
  const Program p = three_activations();
  BuiltinCoder coder(bench.target, bench.hardware, bench.shell, *bench.store, &bench.tuner);
  const CodeState state{std::make_shared<const Program>(p), bench.target.emit(p, bench.hardware, bench.shell).value()};
  const Action action{"tile", {{2}}, ""};
  ASSERT_TRUE(coder.prepares());
  ASSERT_TRUE(coder.prepare({state, action}).ok());
  EXPECT_EQ(bench.tuner.calls, 0);
  ASSERT_TRUE(coder.implement({state, action}).ok());
  EXPECT_EQ(bench.tuner.texts, bench.tuner.prepared);
  ASSERT_TRUE(coder.prepare({state, action}).ok());
  EXPECT_EQ(bench.tuner.prepared.size(), 3u) << "what is remembered needs nothing";
  EXPECT_TRUE(coder.prepare({state, Action{"tile", {{99}}, ""}}).ok()) << "a refusal is told when it is asked for";
  EXPECT_FALSE(BuiltinCoder(bench.target, bench.hardware, bench.shell, *bench.store, nullptr).prepares());
}

TEST(BuiltinCoder, ATunerThatDiesCostsOnlyTheNumbers) {
  Bench bench;
  bench.tuner.broken = true;
  const auto made = bench.tile(three_activations(), {{2}});
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->program->kernels[0].number("tile", 0), 64) << "the target's first guess";
  EXPECT_THAT(made->notes, HasSubstr("not tuned"));
  bench.tuner.broken = false;
  const auto again = bench.tile(three_activations(), {{2}});
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->program->kernels[0].number("tile", 0), 32) << "a failed tuning is not remembered";
}

TEST(BuiltinCoder, TuningInWhichNothingRanIsNotRemembered) {
  Bench bench;
  bench.tuner.nothing_runs = true;
  ASSERT_TRUE(bench.tile(three_activations(), {{2}}).ok());
  bench.tuner.nothing_runs = false;
  const auto again = bench.tile(three_activations(), {{2}});
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(bench.tuner.calls, 2);
  EXPECT_EQ(again->program->kernels[0].number("tile", 0), 32);
}

TEST(BuiltinCoder, PassesRefusalsOn) {
  Bench bench;
  const auto made = bench.tile(three_activations(), {{99}});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(bench.tuner.calls, 0);
}

TEST(BuiltinCoder, RefusesAScheduleThatPrintsTheSameCode) {
  Bench bench;
  TargetDef same = bench.target;
  same.emit = [](const Program&, const Hardware&, const ModuleShell&) -> Result<Code> {
    return Code{"always the same", {}, {}};
  };
  BuiltinCoder coder(same, bench.hardware, bench.shell, *bench.store, &bench.tuner);
  const CodeState state{std::make_shared<const Program>(three_activations()), {"always the same", {}, {}}};
  const auto made = coder.implement({state, Action{"tile", {{2}}, ""}});
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().message(), HasSubstr("the same code"));
  EXPECT_EQ(bench.tuner.calls, 0);
}

// What a target only guesses until it is measured.
TEST(BuiltinCoder, AStepThatOnlyMeasuresTakesFasterNumbers) {
  Bench bench;
  const TargetDef& triton = *find_target("triton");
  const Hardware hardware = h200_hardware();
  struct NthIsFastest final : Tuner {
    Result<std::vector<Measured>> measure(const std::vector<std::string>& modules, const std::vector<TensorType>&,
                                          double, double) override {
      ++calls;
      std::vector<Measured> all(modules.size(), Measured{2.0, ""});
      all.at(fastest).ms = 1.0;
      return all;
    }
    size_t fastest = 0;
    int calls = 0;
  } tuner;
  BuiltinCoder coder(triton, hardware, bench.shell, *bench.store, &tuner);
  Program p;
  const ValueId x = add_leaf(p, ValueKind::input, "x", {DType::f16, {4096, 4096}});
  p.outputs = {add_node(p, "matmul", {x, x}, {}, "").value()[0]};
  reset_kernels(p);
  bench.shell.constructor_source = "class ModelNew:\n    # mtmc: forward\n";
  bench.shell.arguments = {"x"};
  const auto state = [&](const Program& program) {
    return CodeState{std::make_shared<const Program>(program), triton.emit(program, hardware, bench.shell).value()};
  };
  const auto lowered = coder.implement({state(p), Action{"lower", {{1}}, ""}});
  ASSERT_TRUE(lowered.ok()) << lowered.error().message();
  EXPECT_EQ(tuner.calls, 0) << "the best guess";
  const CodeState guessed{lowered->program, lowered->code};
  const auto same = coder.implement({guessed, Action{"pipeline", {{1}}, ""}});
  ASSERT_TRUE(same.ok()) << same.error().message();
  EXPECT_EQ(same->code.text, lowered->code.text) << "what it has is the fastest";
  EXPECT_THAT(same->notes, HasSubstr("tuning"));
  tuner.fastest = 2;
  const auto tiled = coder.implement({guessed, Action{"tile", {{1}}, ""}});
  ASSERT_TRUE(tiled.ok()) << tiled.error().message();
  EXPECT_EQ(tuner.calls, 2);
  EXPECT_NE(tiled->program->kernels[0].numbers, lowered->program->kernels[0].numbers);
  EXPECT_THAT(tiled->notes, HasSubstr("tuning"));
}

constexpr const char* kFile =
    "SOURCE = r'''\n"
    "static void helper(float* a) {\n  for (long i = 0; i < 8; ++i) a[i] = 0;\n}\n"
    "extern \"C\" void k0_relu(const float* x, float* y) {\n  for (long i = 0; i < 64; ++i) {\n    y[i] = x[i];\n  "
    "}\n}\n"
    "'''\n"
    "class ModelNew:\n    def forward(self, x):\n        with torch.no_grad():\n            return (v1, v2)\n";

TEST(Faults, AreWrittenIntoTheKernels) {
  for (const uint64_t choice : {0, 1, 2, 7}) {
    EXPECT_EQ(inject(kFile, Fault::none, choice), kFile);
    EXPECT_THAT(inject(kFile, Fault::wrong, choice), HasSubstr("i < 64 - 1;"));
    EXPECT_THAT(inject(kFile, Fault::wrong, choice), HasSubstr("i < 8;")) << "helpers are left alone";
    EXPECT_THAT(inject(kFile, Fault::crash, choice), HasSubstr("float* y) {\n  *(volatile int*)nullptr = 0;"));
    EXPECT_THAT(inject(kFile, Fault::hang, choice), HasSubstr("spin == 0"));
    EXPECT_NE(inject(kFile, Fault::compile, choice), kFile);
  }
}

TEST(Faults, AreWrittenIntoTheForwardOfAFileWithoutKernels) {
  const std::string file = std::string(kFile).substr(std::string(kFile).find("class"));
  EXPECT_THAT(inject(file, Fault::wrong, 0),
              HasSubstr("return torch.utils._pytree.tree_map(lambda t: t + 1, (v1, v2))\n"));
  EXPECT_THAT(inject(file, Fault::hang, 0),
              HasSubstr("            while True:\n                pass\n            return"));
  EXPECT_THAT(inject(file, Fault::crash, 0), HasSubstr("ctypes.string_at(0)"));
  EXPECT_EQ(inject("# program\n", Fault::crash, 0), "# program\n# fault: crashed\n");
}

// A coder that writes a different text for every action.
struct Echo final : Coder {
  std::string name() const override { return "echo"; }
  Result<Implementation> implement(const CoderRequest& request) override {
    return Implementation{request.state.program, Code{"# " + store_text(request.action) + "\n", {}, {}}, ""};
  }
};

TEST(FaultyCoder, KeepsItsRatesAndRepeatsItself) {
  FaultyCoder faulty(std::make_unique<Echo>(), {.compile = 0.1, .wrong = 0.2, .crash = 0.05, .hang = 0.15}, 7);
  const CodeState state{std::make_shared<const Program>(three_activations()), {}};
  std::map<std::string, int> seen;
  constexpr int kTries = 2000;
  for (int i = 0; i < kTries; ++i) {
    const Action action{"tile", {{i}}, ""};
    const std::string text = faulty.implement({state, action})->code.text;
    EXPECT_EQ(text, faulty.implement({state, action})->code.text);
    const size_t at = text.find("# fault: ");
    ++seen[at == std::string::npos ? "none" : text.substr(at + 9, text.size() - at - 10)];
  }
  EXPECT_NEAR(seen["compile-error"], 0.1 * kTries, 60);
  EXPECT_NEAR(seen["wrong-result"], 0.2 * kTries, 80);
  EXPECT_NEAR(seen["crashed"], 0.05 * kTries, 50);
  EXPECT_NEAR(seen["timed-out"], 0.15 * kTries, 70);
  EXPECT_NEAR(seen["none"], 0.5 * kTries, 100);
}

}  // namespace
}  // namespace mtmc
