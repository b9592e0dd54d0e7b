// What a policy that reads sees of a state, as text: hardware, task, history with its effects, and the code with line
// numbers. Long code is shown around the regions that actions may apply to.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "actions/action.h"
#include "search/offer.h"
#include "search/policy.h"

namespace mtmc {

using TokenCounter = std::function<size_t(std::string_view)>;
// About what a byte-level tokenizer makes of code: a token for four characters.
size_t quarter_of_characters(std::string_view text);

struct PromptOptions {
  size_t context = 1024;  // tokens that the prompt may have
  TokenCounter count = quarter_of_characters;
  bool program = false;  // the Program's text instead of the code, where there is a Program
};

struct PromptParts {
  std::string hardware, description;
  std::string_view code;  // or the Program's text
  std::vector<HistoryStep> history;
  int step = 0, steps = 8;         // steps taken, and the most there may be
  std::vector<LineRange> regions;  // of the code, those that matter most first
  size_t left_out = 0;             // actions that the first pass does not offer
};

// The first of these that fits the context, in this order:
//   1. everything;
//   2. of the code, the regions with 64 lines around each, then 32, 16, 8, 4, 2, 1, 0;
//   3. regions of more than 40 lines by their first and last 20;
//   4. of the history the last 3 steps;
//   5. half of the regions, those that matter most, then a quarter, ..., one, none.
// A line of more than 160 characters is cut there. An Error: not even hardware, task and history fit.
Result<std::string> prompt_text(const PromptParts& parts, const PromptOptions& options);

// The Program's text as the code of the null target prints it, for those who show it instead of the code: rendered with
// it, an action names lines of the Program.
Code program_text(const Program& program);

// What a policy that reads is asked at a state: the prompt, and the text of each action that the first pass keeps.
struct PolicyView {
  std::string prompt;
  std::vector<std::string> actions;
  Offer offer;  // kept[i] is the position in the proposals of actions[i]
};
Result<PolicyView> policy_view(const Observation& observation, const std::vector<Proposal>& proposals,
                               const ActionContext& context, const PromptOptions& options);

// Regions of the actions, those of the largest share first, each once; those without lines are left out.
std::vector<LineRange> regions_of(const std::vector<std::string>& actions, const std::vector<double>& shares);
// The lines that a rendered action names: "tile matmul in lines 22-31". {0, 0}: none.
LineRange lines_in(std::string_view rendered);

}  // namespace mtmc
