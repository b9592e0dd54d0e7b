#include "cli/model_options.h"

namespace mtmc {

void declare_prompt(Options& options, std::string& prompt) {
  options.choice(prompt, "--prompt", {"default", "paper"},
                 "paper: code, action and examples alone; default: the machine, the target's rules and verdicts, too");
}

PromptStyle prompt_named(const std::string& prompt) {
  return prompt == "paper" ? PromptStyle::paper : PromptStyle::standard;
}

void ModelOptions::declare(Options& options) {
  options_ = &options, first_ = options.names().size();
  options.section(
      "Asking a language model, for --coder llm, agent, free, single_pass and --policy chat (docs/CODERS.md)");
  options.text(given_.model, "--model", "NAME",
               "gemini-2.5-pro, claude-sonnet-4, o4-mini, ..., or any that --base-url serves");
  options.text(given_.base_url, "--base-url", "URL", "a server of your own, such as http://localhost:8000/v1");
  options.text(given_.key_file, "--key-file", "FILE", "its first line is the key, instead of an environment variable");
  options.amount(given_.max_cost, "--max-cost", "USD",
                 "spend no more: a request that could exceed it is not sent (no limit)");
  options.integer(repairs_, "--repairs", 0, "how often in a row the model may mend a step of its own that was refused");
  options.integer(questions_, "--questions", 1, "how many questions of a search are under way at once");
  options.seconds(given_.request_seconds, "--request-time", "the longest that one request may take");
  options.integer(answer_tokens_, "--answer-tokens", 1, "the most tokens of one answer");
  options.integer(agent_turns_, "--agent-turns", 2, "the most turns of one step of --coder agent");
  options.integer(agent_judgements_, "--agent-judgements", 0,
                  "the most drafts that --coder agent may have judged in one step");
  options.text(given_.knowledge, "--knowledge", "DIR",
               "notes for --coder agent beside those that are shipped; what it learns is added there");
  declare_prompt(options, prompt_);
  behind_ = options.names().size();
}

std::vector<std::string> ModelOptions::given() const {
  std::vector<std::string> found;
  for (size_t i = first_; i < behind_; ++i)
    if (options_->given(options_->names()[i])) found.push_back(options_->names()[i]);
  return found;
}

LlmOptions ModelOptions::read() const {
  LlmOptions read = given_;
  read.prompt = prompt_named(prompt_);
  read.questions = static_cast<int>(questions_);
  read.repairs = static_cast<int>(repairs_), read.answer_tokens = static_cast<int>(answer_tokens_);
  read.agent_turns = static_cast<int>(agent_turns_);
  read.agent_judgements = static_cast<int>(agent_judgements_);
  return read;
}

}  // namespace mtmc
