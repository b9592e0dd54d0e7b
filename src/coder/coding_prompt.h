// What a language model is asked when it is to take one step. The paper's action prompt (section 3, "Micro Coding") has
// three elements: the kernel code of step t-1, the action with its type and region, and examples for that type. The
// standard prompt adds the machine, the target's rules and, after a failure, the verdict.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "coder/coder.h"
#include "coder/llm_options.h"
#include "llm/protocol.h"

namespace mtmc {

// A step that was taken before: code, the action, and the code after it. One file each:
// src/coder/examples/TARGET_TYPE.md; the judge certifies their code in the tests.
struct WorkedExample {
  std::string target, type;
  std::string action;  // "fuse scale and relu in lines 9-15"
  std::string task, before, after;
};
const std::vector<WorkedExample>& worked_examples();

// What a target's code has to keep to: src/coder/guides/TARGET.md; empty where there is none.
std::string_view guide_of(std::string_view target);

struct PromptFacts {
  const TargetDef& target;
  const Hardware& hardware;
  PromptStyle style = PromptStyle::standard;
  std::string description = {};  // of the task, one line
};

// The same request gives the same text.
ChatRequest coding_prompt(const CoderRequest& request, const PromptFacts& facts);
// How a model is asked to go on with an answer that broke off.
ChatRequest continued(ChatRequest request, const std::string& answer);

// "   1 | import torch": the lines of code as prompts show them.
std::string with_line_numbers(std::string_view code);
// What a refusal says for whoever has to repair it: reason, message, and the outputs that err most.
std::string describe_refusal(const Verdict& verdict);

}  // namespace mtmc
