// What no action reaches, and what is proposed for it.
#include "coder/beyond.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace mtmc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Program sorted(const std::string& nodes, const std::string& kernels, const std::string& result) {
  return parse_program("program sorted {\n  %0 = input \"x\" : f32[64,64]\n" + nodes + "  return " + result + "\n}\n" +
                       kernels)
      .value();
}
const std::string kSort =
    "library(%IN, args=\"{0}\", call=\"aten.sort.default\", types=\"f32[64,64] i64[64,64]\") : f32[64,64], "
    "i64[64,64]\n";
std::string sort_of(const std::string& outputs, const std::string& input) {
  std::string text = "  " + outputs + " = " + kSort;
  return text.replace(text.find("%IN"), 3, input);
}

std::vector<std::string> beyond(const Program& program, bool paper_only = false) {
  const Hardware hardware = null_hardware();
  const ActionContext context{hardware, *find_target("null"), paper_only};
  std::vector<Proposal> legal;
  for (const Action& action : enumerate_actions(program, context)) legal.push_back({action, ""});
  const CodeState state{std::make_shared<const Program>(program), {}};
  std::vector<std::string> texts;
  for (const Proposal& proposal : proposals_beyond(state, legal, context)) {
    EXPECT_TRUE(proposal.beyond);
    EXPECT_EQ(parse_action(store_text(proposal.action)).value(), proposal.action);
    EXPECT_FALSE(apply_action(program, proposal.action, context).ok()) << store_text(proposal.action);
    texts.push_back(store_text(proposal.action));
  }
  return texts;
}

TEST(Beyond, IsALibrarysCallThatNoActionReplacesAndItsNeighbours) {
  EXPECT_THAT(beyond(sorted(sort_of("%1, %2", "%0"), "kernel a = { %1 %2 } library\n", "%1")),
              ElementsAre("lower %1 %2"));
  const Program between =
      sorted("  %1 = relu(%0) : f32[64,64]\n" + sort_of("%2, %3", "%1") + "  %4 = exp(%2) : f32[64,64]\n",
             "kernel a = { %1 } library\nkernel b = { %2 %3 } library\nkernel c = { %4 } library\n", "%4");
  EXPECT_THAT(beyond(between), ElementsAre("lower %2 %3", "fuse %1 %2 %3", "fuse %2 %3 %4"));
  EXPECT_THAT(beyond(between, true), ElementsAre("lower %2 %3", "fuse %1 %2 %3", "fuse %2 %3 %4"))
      << "both are types of the paper";
}

TEST(Beyond, IsNothingWhereActionsReachEverything) {
  EXPECT_THAT(beyond(sorted("  %1 = relu(%0) : f32[64,64]\n  %2 = exp(%1) : f32[64,64]\n",
                            "kernel a = { %1 } library\nkernel b = { %2 } library\n", "%2")),
              IsEmpty());
}

TEST(Beyond, IsOfferedAFewAtATime) {
  std::string nodes, kernels;
  for (int i = 0; i < 10; ++i) {
    const std::string outputs = "%" + std::to_string(2 * i + 1) + ", %" + std::to_string(2 * i + 2);
    nodes += sort_of(outputs, i == 0 ? "%0" : "%" + std::to_string(2 * i - 1));
    kernels += "kernel k" + std::to_string(i) + " = { %" + std::to_string(2 * i + 1) + " %" +
               std::to_string(2 * i + 2) + " } library\n";
  }
  EXPECT_EQ(beyond(sorted(nodes, kernels, "%19")).size(), 8u);
}

}  // namespace
}  // namespace mtmc
