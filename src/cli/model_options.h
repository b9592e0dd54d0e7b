// The options that say which large language model is asked, and how: for the coder `llm`.
#pragma once
#include <string>

#include "cli/options.h"
#include "coder/llm_options.h"

namespace mtmc {

struct ModelOptions {
  void declare(Options& options);
  LlmOptions read() const;

 private:
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
