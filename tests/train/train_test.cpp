// The parts of training by themselves; as a whole it is tested in tests/cli/train_test.py.
#include <ATen/TensorOperators.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "train/algorithm.h"
#include "train/curves.h"
#include "train/split.h"
#include "train/value_head.h"

namespace mtmc::train {
namespace {

using ::testing::HasSubstr;

// After one step AdamW has moved each weight by the rate against the gradient's sign, whatever the gradient's size.
TEST(TorchAdamW, TakesTheStepThatTheFormulaSays) {
  Processes alone;
  AdamW optimizer({{"w", at::tensor({1.0f, -2.0f})}}, 0.1);
  const at::Tensor weight = optimizer.parameters().at("w");
  (weight * at::tensor({3.0f, -4.0f})).sum().backward();
  const double norm = optimizer.step(0.01, 0.5, alone).value();
  EXPECT_NEAR(norm, 5, 1e-6);
  EXPECT_NEAR(weight[0].item<double>(), 1 * (1 - 0.01 * 0.1) - 0.01, 1e-6);
  EXPECT_NEAR(weight[1].item<double>(), -2 * (1 - 0.01 * 0.1) + 0.01, 1e-6);
  // The moments are those of the gradient scaled to the norm.
  EXPECT_NEAR(optimizer.state().at("first.w")[0].item<double>(), 0.1 * 3 * 0.1, 1e-6);
  EXPECT_EQ(optimizer.state().at("steps.w").item<double>(), 1);
  EXPECT_FALSE(weight.grad().defined());
}

TEST(TorchAdamW, RefusesGradientsThatAreNotFinite) {
  Processes alone;
  AdamW optimizer({{"w", at::tensor({0.0f})}}, 0);
  optimizer.parameters().at("w").log().sum().backward();
  EXPECT_THAT(optimizer.step(0.01, 1, alone).error().message(), HasSubstr("the gradients are not finite"));
}

TEST(TorchValueHead, HasTheSizesOfThePaperAndBeginsNearZero) {
  Rng rng(1);
  const ValueHead value(32, at::kCPU, rng);
  EXPECT_EQ(value.optimizer().parameters().at("value.0.weight").sizes(), (std::vector<int64_t>{1024, 32}));
  EXPECT_EQ(value.optimizer().parameters().at("value.2.weight").sizes(), (std::vector<int64_t>{1, 512}));
  EXPECT_LT(std::abs(value(at::tensor(std::vector<float>(32, 1.0f))).item<double>()), 0.3);
}

TEST(Split, HoldsOutAShareOfTheNames) {
  int held_out = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::string name = "task" + std::to_string(i);
    held_out += is_held_out(name, 0.2);
    EXPECT_FALSE(is_held_out(name, 0));
    EXPECT_LE(is_held_out(name, 0.1), is_held_out(name, 0.2)) << "a larger share holds the smaller one";
  }
  EXPECT_NEAR(held_out / 2000.0, 0.2, 0.03);
}

TEST(Seeds, DrawAPermutationAndDependOnEachPart) {
  const auto order = shuffled(50, 3);
  EXPECT_EQ(std::set<size_t>(order.begin(), order.end()).size(), 50u);
  EXPECT_NE(order, shuffled(50, 4));
  std::set<uint64_t> seeds;
  for (uint64_t a = 0; a < 20; ++a)
    for (uint64_t b = 0; b < 20; ++b) seeds.insert(seed_for(1, {a, b}));
  EXPECT_EQ(seeds.size(), 400u);
}

TEST(Curves, HaveAPanelForEachNumber) {
  std::vector<Json> lines;
  for (int i = 1; i <= 3; ++i) lines.push_back({{"update", i}, {"loss", 1.0 / i}, {"reward", 5}});
  const std::string svg = curves_svg(lines);
  EXPECT_THAT(svg, HasSubstr(">loss</text>"));
  EXPECT_THAT(svg, HasSubstr(">0.333</text>"));
  EXPECT_THAT(svg, HasSubstr(">reward</text>"));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

TEST(Algorithms, NameTheirSettingsOnce) {
  for (const AlgorithmDef* def : all_algorithms()) {
    std::set<std::string> names;
    for (const Setting& setting : def->settings) EXPECT_TRUE(names.insert(setting.name).second) << setting.name;
    EXPECT_EQ(find_algorithm(def->name), def);
  }
}

}  // namespace
}  // namespace mtmc::train
