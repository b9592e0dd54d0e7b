#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "search/frontier.h"
#include "search/gains.h"
#include "search/offer.h"
#include "search/policy.h"
#include "search/prospect.h"
#include "search/world.h"
#include "targets/target.h"

namespace mtmc {
namespace {

// Three layers that are alike, and a head that is not.
std::string layers() {
  std::string params = "  %0 = input \"x\" : f32[256,128]\n", nodes, kernels;
  int next = 4, place = 0, x = 0;
  for (int layer = 1; layer <= 3; ++layer)
    params += "  %" + std::to_string(layer) + " = param \"w" + std::to_string(layer) + "\" : f32[128,128]\n";
  const auto node = [&](const std::string& call, const std::string& type) {
    nodes += "  %" + std::to_string(next) + " = " + call + " : " + type + "\n";
    kernels += "kernel k" + std::to_string(place++) + " = { %" + std::to_string(next) + " } library\n";
    return next++;
  };
  for (int layer = 1; layer <= 3; ++layer) {
    const int y = node("linear(%" + std::to_string(x) + ", %" + std::to_string(layer) + ", none)", "f32[256,128]");
    const int z = node("gelu(%" + std::to_string(y) + ")", "f32[256,128]");
    x = node("mul(%" + std::to_string(z) + ", %" + std::to_string(z) + ")", "f32[256,128]");
  }
  const int sum = node("sum(%" + std::to_string(x) + ", dim=[1], keepdim=false)", "f32[256]");
  return "program layers {\n" + params + nodes + "  return %" + std::to_string(sum) + "\n}\n" + kernels;
}

class GreedyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const Action& action : enumerate_actions(program_, context_)) {
      place_[store_text(action)] = proposals_.size();
      proposals_.push_back({action, action.regions.empty() ? "stop" : store_text(action)});
    }
    const auto policy = find_policy("greedy")->make({hardware_, *find_target("null")}).value();
    const std::string code;
    const auto order = policy->rank({"", "", code, &program_, {}, "", 0}, proposals_).value().order;
    for (size_t i = 0; i < order.size(); ++i) rank_[order[i]] = i;
  }
  double completed_after(const Action& action) {
    return Forecaster(context_).prospect(apply_action(program_, action, context_).value()).completed;
  }

  const Hardware hardware_ = null_hardware();
  const ActionContext context_{hardware_, *find_target("null")};
  const Program program_ = parse_program(layers()).value();
  std::vector<Proposal> proposals_;
  std::map<std::string, size_t> place_;
  std::map<size_t, size_t> rank_;  // of a proposal
};

TEST_F(GreedyTest, AStepAtAllAlikePlacesStandsBeforeTheSameAtOne) {
  int classes = 0;
  for (const Proposal& proposal : proposals_) {
    const Action& all = proposal.action;
    if (all.regions.size() < 2 || all.type != "fuse") continue;
    ++classes;
    for (const auto& region : all.regions) {
      const auto one = place_.find(store_text({all.type, {region}, all.detail}));
      ASSERT_NE(one, place_.end()) << store_text(all);
      EXPECT_LT(rank_.at(place_.at(store_text(all))), rank_.at(one->second)) << store_text(all);
    }
  }
  EXPECT_GE(classes, 2) << "linear with gelu, and gelu with mul";
}

TEST_F(GreedyTest, PricingOneOfAlikePlacesSaysWhatAllOfThemGain) {
  const double now = Forecaster(context_).prospect(program_).completed;
  int asked = 0;
  for (const Proposal& proposal : proposals_) {
    const Action& all = proposal.action;
    if (all.regions.size() < 2) continue;
    const double places = static_cast<double>(all.regions.size());
    const double one = completed_after({all.type, {all.regions.front()}, all.detail}) - now;
    EXPECT_NEAR(completed_after(all), now + places * one, 1e-9 * now) << store_text(all);
    ++asked;
  }
  EXPECT_GE(asked, 3);
}

// A call that no action replaces: its coder may write it. What is known to pay stands before that, `stop` behind.
TEST(Greedy, WhatOnlyACoderCanDoStandsBehindWhatPaysAndCostsWhatTheCallTakes) {
  const Hardware hardware = null_hardware();
  const ActionContext context{hardware, *find_target("null")};
  const Program program = testing::sorted();
  std::vector<Proposal> proposals{{{"lower", {{1, 2}}, ""}, "lower sort", true}};
  for (const Action& action : enumerate_actions(program, context)) proposals.push_back({action, store_text(action)});
  Forecaster forecaster(context);
  const std::vector<double> gains = expected_gains(program, proposals, context, forecaster);
  const double share = time_shares(proposals, program, context)[0];
  EXPECT_GT(share, 0.1);
  EXPECT_NEAR(gains[0], share, 1e-9) << "nobody knows: at most all that it takes";
  const auto policy = find_policy("greedy")->make({hardware, *find_target("null")}).value();
  const std::string code;
  const auto rank = [&](double worthwhile) {
    const auto order = policy->rank({"", "", code, &program, {}, "", 0, 0, 8, worthwhile}, proposals).value().order;
    return std::find(order.begin(), order.end(), size_t{0}) - order.begin();
  };
  const auto pay = std::count_if(gains.begin() + 1, gains.end() - 1, [](double g) { return g >= kWorthwhile; });
  EXPECT_GT(pay, 0);
  EXPECT_EQ(rank(kWorthwhile), pay);
  EXPECT_GT(rank(2 * share), 0) << "behind `stop`, which stands for more than all of it";
}

// Three softmaxes written out, each behind a linear layer.
std::string written_out() {
  std::string params = "  %0 = input \"x\" : f32[256,128]\n", nodes, kernels;
  int next = 4, place = 0, x = 0;
  const auto node = [&](const std::string& call, const std::string& type) {
    nodes += "  %" + std::to_string(next) + " = " + call + " : " + type + "\n";
    kernels += "kernel k" + std::to_string(place++) + " = { %" + std::to_string(next) + " } library\n";
    return next++;
  };
  for (int layer = 1; layer <= 3; ++layer) {
    params += "  %" + std::to_string(layer) + " = param \"w" + std::to_string(layer) + "\" : f32[128,128]\n";
    const int y = node("linear(%" + std::to_string(x) + ", %" + std::to_string(layer) + ", none)", "f32[256,128]");
    const int e = node("exp(%" + std::to_string(y) + ")", "f32[256,128]");
    const int sum = node("sum(%" + std::to_string(e) + ", dim=[1], keepdim=true)", "f32[256,1]");
    x = node("div(%" + std::to_string(e) + ", %" + std::to_string(sum) + ")", "f32[256,128]");
  }
  return "program written_out {\n" + params + nodes + "  return %" + std::to_string(x) + "\n}\n" + kernels;
}

std::vector<Proposal> proposals_for(const Program& program, const ActionContext& context) {
  std::vector<Proposal> proposals;
  for (const Action& action : enumerate_actions(program, context))
    proposals.push_back({action, action.regions.empty() ? "stop" : store_text(action)});
  return proposals;
}

// `worthwhile`: see Observation.
std::vector<size_t> order_of(const std::vector<Proposal>& proposals, const Program& program,
                             const ActionContext& context, double worthwhile) {
  const auto policy = find_policy("greedy")->make({context.hardware, context.target}).value();
  const std::string code;
  Observation observation{"", "", code, &program, {}, "", 0};
  observation.worthwhile = worthwhile;
  return policy->rank(observation, proposals).value().order;
}

// Two reshapes that change nothing in each of two layers: to leave them out brings nothing.
TEST(Greedy, WhatRewritesForNothingStandsBehindWhatPays) {
  const Hardware hardware = null_hardware();
  const ActionContext context{hardware, *find_target("null")};
  const Program program = parse_program(R"(program reshaped {
  %0 = input "x" : f32[256,128]
  %1 = reshape(%0, shape=[256,128]) : f32[256,128]
  %2 = gelu(%1) : f32[256,128]
  %3 = tanh(%2) : f32[256,128]
  %4 = reshape(%3, shape=[256,128]) : f32[256,128]
  %5 = gelu(%4) : f32[256,128]
  %6 = tanh(%5) : f32[256,128]
  return %6
}
kernel k0 = { %1 } library
kernel k1 = { %2 } library
kernel k2 = { %3 } library
kernel k3 = { %4 } library
kernel k4 = { %5 } library
kernel k5 = { %6 } library
)")
                              .value();
  const std::vector<Proposal> proposals = proposals_for(program, context);
  ASSERT_TRUE(std::any_of(proposals.begin(), proposals.end(), [](const Proposal& one) {
    return one.action.type == "simplify" && one.action.regions.size() > 1;
  }));
  for (const double worthwhile : {kWorthwhile, 1e-3, kStopsWalk})
    EXPECT_EQ(proposals[order_of(proposals, program, context, worthwhile)[0]].action.type, "fuse") << worthwhile;
}

TEST(Greedy, WhatRewritesAllLayersStandsBeforeWhatFusesSome) {
  const Hardware hardware = null_hardware();
  const ActionContext context{hardware, *find_target("null")};
  const Program program = parse_program(written_out()).value();
  const std::vector<Proposal> proposals = proposals_for(program, context);
  const auto order = order_of(proposals, program, context, kWorthwhile);
  const Action& first = proposals[order[0]].action;
  EXPECT_EQ(first.type, "simplify") << store_text(first);
  EXPECT_EQ(first.regions.size(), 3u);
  Forecaster forecaster(context);
  const std::vector<double> gains = expected_gains(program, proposals, context, forecaster);
  EXPECT_LT(gains[order[0]], *std::max_element(gains.begin(), gains.end())) << "it is not what gains most by itself";
  EXPECT_GT(gains[order[0]], kWorthwhile);
}

// Two kernels of so many rows and columns: a graph is hoped to help as far as launching takes the time. Long kernels
// hide their launches, and a graph of them copies arguments and results, which is a sure loss.
TEST(Greedy, AGraphIsHopedForAsFarAsLaunchingTakesTheTime) {
  const Hardware hardware = h200_hardware();
  const ActionContext context{hardware, *find_target("triton")};
  const auto gain_of_a_graph = [&](int rows, int width) {
    const std::string type = "f32[" + std::to_string(rows) + "," + std::to_string(width) + "]";
    const Program program = parse_program("program rows {\n  %0 = input \"x\" : " + type +
                                          "\n  %1 = exp(%0) : " + type + "\n  %2 = softmax(%1, dim=1) : " + type +
                                          "\n  return %2\n}\nkernel k0 = { %1 } pointwise\n"
                                          "kernel k1 = { %2 } reduction\n")
                                .value();
    Forecaster forecaster(context);
    return expected_gains(program, {{{"capture", {{1, 2}}, ""}, "capture"}}, context, forecaster)[0];
  };
  EXPECT_GT(gain_of_a_graph(64, 256), 0.03);
  EXPECT_LT(hoped("capture", gain_of_a_graph(16384, 4096)), 0) << "it is tried last";
}

}  // namespace
}  // namespace mtmc
