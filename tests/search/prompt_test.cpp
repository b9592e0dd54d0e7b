// The rules by which a long state is shown, and which actions are offered there.
#include "search/prompt.h"

#include <set>
#include <utility>

#include "search/offer.h"
#include "search/world.h"

namespace mtmc {
namespace {

// LINES lines, "line 1", "line 2", ...
std::string code_of(int lines) {
  std::string text;
  for (int i = 1; i <= lines; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

PromptParts parts_of(std::string_view code, std::vector<LineRange> regions) {
  return {.hardware = "H: 1 SMs", .description = "a task", .code = code, .history = {}, .regions = std::move(regions)};
}

std::string shown(const PromptParts& parts, size_t context) {
  const auto text = prompt_text(parts, {.context = context});
  return text.ok() ? *text : "error: " + text.error().message();
}

TEST(Prompt, ShowsAllOfWhatFits) {
  const std::string code = "import torch\nx = 1\n";
  PromptParts parts = parts_of(code, {{2, 2}});
  parts.history = {{"fuse a and b in lines 1-2", "certified", 1.5}, {"tile c in line 2", "wrong-result", 0}};
  parts.step = 2;
  parts.left_out = 3;
  EXPECT_EQ(shown(parts, 1000),
            "hardware: H: 1 SMs\ntask: a task\nhistory:\n1. fuse a and b in lines 1-2: 1.50x eager\n"
            "2. tile c in line 2: wrong-result\nstep 3 of 8\ncode:\n   1 | import torch\n   2 | x = 1\n"
            "3 more actions are not offered\nnext action:");
}

TEST(Prompt, ShowsLongCodeAroundTheRegions) {
  const std::string code = code_of(3000);
  const std::string text = shown(parts_of(code, {{1000, 1001}, {2000, 2000}}), 200);
  EXPECT_LE(quarter_of_characters(text), 200u);
  EXPECT_NE(text.find("\ncode:\n     ... 991 lines left out ...\n 992 | line 992\n"), text.npos) << text;
  EXPECT_NE(text.find("1009 | line 1009\n     ... 982 lines left out ...\n1992 | line 1992\n"), text.npos) << text;
  EXPECT_NE(text.find("2008 | line 2008\n     ... 992 lines left out ...\nnext action:"), text.npos) << text;
}

TEST(Prompt, ShowsLongRegionsByTheirEnds) {
  const std::string code = code_of(3000);
  const std::string text = shown(parts_of(code, {{1001, 1800}}), 260);
  EXPECT_NE(text.find("1020 | line 1020\n     ... 760 lines left out ...\n1781 | line 1781\n"), text.npos) << text;
}

TEST(Prompt, ForgetsOldStepsBeforeRegions) {
  const std::string code = code_of(3000);
  PromptParts parts = parts_of(code, {{1001, 1040}, {2001, 2040}});
  for (int i = 0; i < 7; ++i) parts.history.push_back({"fuse some long names of operators", "certified", 1.0});
  const std::string both = shown(parts, 430);
  EXPECT_NE(both.find("... 4 earlier ...\n5. "), both.npos) << both;
  EXPECT_NE(both.find("2001 |"), both.npos) << both;
  const std::string first = shown(parts, 280);
  EXPECT_NE(first.find("1001 |"), first.npos) << first;
  EXPECT_EQ(first.find("2001 |"), first.npos) << first;
  EXPECT_NE(first.find("code:\n     ... 1000 lines left out ...\n"), first.npos) << first;
}

TEST(Prompt, AContextThatHoldsNothingIsAnError) {
  const auto text = prompt_text(parts_of("x = 1\n", {}), {.context = 5});
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().wrong, "the context is too small");
}

TEST(Prompt, FindsTheLinesOfAnAction) {
  const auto lines = [](const char* text) { return std::pair{lines_in(text).first, lines_in(text).last}; };
  EXPECT_EQ(lines("fuse linear and gelu in lines 31-47 (2 places)"), (std::pair{31, 47}));
  EXPECT_EQ(lines("tile matmul in line 9"), (std::pair{9, 9}));
  EXPECT_EQ(lines("stop"), (std::pair{0, 0}));
}

// A network with so many alike blocks that there are hundreds of actions.
Program deep_network(int blocks) {
  Program p;
  p.name = "deep";
  const auto leaf = [&](ValueKind kind, const std::string& name, Shape shape) {
    const TensorType type{DType::f32, std::move(shape)};
    const ValueId id = p.next_id();
    p.values.push_back({id, kind, name, type, type.dtype, {}});
    return id;
  };
  ValueId x = leaf(ValueKind::input, "x", {32, 128});
  std::vector<ValueId> weights;
  for (int i = 0; i < blocks; ++i) weights.push_back(leaf(ValueKind::param, "w" + std::to_string(i), {128, 128}));
  for (int i = 0; i < blocks; ++i) {
    x = add_node(p, "linear", {x, weights[i], kNoValue}, {}, "").value()[0];
    x = add_node(p, "relu", {x}, {}, "").value()[0];
  }
  p.outputs = {x};
  reset_kernels(p);
  return p;
}

std::vector<Proposal> proposals_of(const Program& program, const ActionContext& context) {
  std::vector<Proposal> proposals;
  for (Action& action : enumerate_actions(program, context)) {
    std::string text = store_text(action);
    proposals.push_back({std::move(action), std::move(text)});
  }
  return proposals;
}

TEST(Offer, KeepsTheClassesOfALargeNetworkAndSaysHowManyItLeavesOut) {
  const Program program = deep_network(40);
  const Hardware hardware = hardware_profile("h100").value();
  const ActionContext context{hardware, *find_target("null")};
  const std::vector<Proposal> proposals = proposals_of(program, context);
  ASSERT_GT(proposals.size(), 2 * kMostOffered);
  const Offer offer = first_pass(proposals, time_shares(proposals, program, context));
  EXPECT_EQ(offer.kept.size(), kMostOffered);
  EXPECT_EQ(offer.left_out, proposals.size() - kMostOffered);
  EXPECT_TRUE(proposals[offer.kept.back()].stop());
  std::set<std::string> types, kept_types;
  std::set<size_t> kept(offer.kept.begin(), offer.kept.end());
  for (size_t i = 0; i < proposals.size(); ++i) {
    const Action& action = proposals[i].action;
    types.insert(action.type);
    if (kept.contains(i)) kept_types.insert(action.type);
    EXPECT_TRUE(action.regions.size() <= 1 || kept.contains(i)) << proposals[i].text;
  }
  EXPECT_EQ(types, kept_types);
}

TEST(Offer, LeavesNothingOutOfASmallOne) {
  testing::World world;
  const ActionContext context{world.hardware, world.target};
  const std::vector<Proposal> proposals = proposals_of(*world.program, context);
  const Offer offer = first_pass(proposals, time_shares(proposals, *world.program, context));
  EXPECT_EQ(offer.kept.size(), proposals.size());
  EXPECT_EQ(offer.left_out, 0u);
}

TEST(Offer, TypesTakeTurnsByTheirShareOfTheTime) {
  std::vector<Proposal> proposals;
  for (int i = 0; i < 4; ++i) proposals.push_back({{"fuse", {{i}}, ""}, "fuse"});
  proposals.push_back({{"tile", {{9}}, ""}, "tile"});
  proposals.push_back({{"stop", {}, ""}, "stop"});
  const Offer offer = first_pass(proposals, {0.1, 0.4, 0.2, 0.3, 0.05, 0}, 4);
  EXPECT_EQ(offer.kept, (std::vector<size_t>{1, 3, 4, 5}));
  EXPECT_EQ(offer.left_out, 2u);
}

TEST(PolicyView, ShowsTheProgramWhereThatIsWanted) {
  testing::World world;
  const ActionContext context{world.hardware, world.target};
  const std::string code = "the code";
  const Observation seen{hardware_line(world.hardware), "a network", code, world.program.get(), {}, "", 0};
  std::vector<Proposal> proposals = proposals_of(*world.program, context);
  const auto as_code = policy_view(seen, proposals, context, {.context = 4000});
  const auto as_program = policy_view(seen, proposals, context, {.context = 4000, .program = true});
  ASSERT_TRUE(as_code.ok() && as_program.ok());
  EXPECT_NE(as_code->prompt.find("   1 | the code\n"), std::string::npos);
  EXPECT_EQ(as_code->actions.size(), proposals.size());
  EXPECT_NE(as_program->prompt.find(" | program "), std::string::npos) << as_program->prompt;
  EXPECT_NE(as_program->actions.front().find(" in line"), std::string::npos) << as_program->actions.front();
}

}  // namespace
}  // namespace mtmc
