// The options that say which large language model is asked, and how: for the coder `llm`.
#pragma once
#include <string>
#include <vector>

#include "cli/options.h"
#include "coder/llm_options.h"

namespace mtmc {

struct ModelOptions {
  void declare(Options& options);
  // Those of these options that the command line has.
  std::vector<std::string> given() const;
  LlmOptions read() const;

 private:
  const Options* options_ = nullptr;
  size_t first_ = 0, behind_ = 0;  // of the options' names: ours
  LlmOptions given_;
  std::string prompt_ = "default";
  int64_t questions_ = LlmOptions().questions, repairs_ = LlmOptions().repairs,
          answer_tokens_ = LlmOptions().answer_tokens, agent_turns_ = LlmOptions().agent_turns,
          agent_judgements_ = LlmOptions().agent_judgements;
};

// --prompt default|paper
void declare_prompt(Options& options, std::string& prompt);
PromptStyle prompt_named(const std::string& prompt);

}  // namespace mtmc
