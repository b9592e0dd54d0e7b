// How a large language model is asked: what the command line says, and what all tasks of a process share.
#pragma once
#include <optional>
#include <string>

#include "llm/http.h"
#include "llm/key.h"
#include "llm/ledger.h"

namespace mtmc {

// `paper`: exactly the three elements of the paper's action prompt. `standard` adds the machine, the target's rules
// and, after a failure, the verdict.
enum class PromptStyle { standard, paper };

struct LlmOptions {
  std::string model, base_url, key_file;
  PromptStyle prompt = PromptStyle::standard;
  int repairs = 2;                 // of one step, in a row
  int questions = 4;               // of one search that are under way at once
  std::optional<double> max_cost;  // USD; no request is sent that could pass it
  double request_seconds = 300;    // the most that one request may take
  int answer_tokens = 16384;       // the most of one answer
  int agent_turns = 8;             // of the coder agent, for one step
  int agent_judgements = 3;        // that it may ask for in one step, counted as evaluations
  std::string knowledge;           // a folder of notes beside those that we ship, where the agent's go; empty: none
};

struct ClientParts;

// One for a process, made before children are started: it takes the keys out of the environment.
struct LlmAccess {
  explicit LlmAccess(LlmOptions wanted) : options(std::move(wanted)), keys(Keys::take()), ledger(options.max_cost) {}
  LlmOptions options;
  Keys keys;
  Ledger ledger;
  Transport transport = post;
  // The model that the options name, with its key, price and limits. An Error: it is not known, or has no key or, with
  // --max-cost, no price.
  Result<ClientParts> client() const;
};

}  // namespace mtmc
