#include "coder/code_again.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "base/json.h"
#include "coder/agent.h"
#include "coder/answer.h"
#include "coder/llm.h"

namespace mtmc {
namespace {

std::vector<std::vector<std::string>> answers_named(const std::string& note) {
  const Json json = Json::parse(note, nullptr, false);
  const Json::json_pointer answers("/llm/answers");
  if (!json.is_object() || !json.contains(answers)) return {};
  return json.at(answers);
}

// An answer with what continued it; nothing where the store lacks a part.
Result<std::optional<ChatReply>> whole_answer(ExchangeMemory& memory, const std::vector<std::string>& parts) {
  std::optional<ChatReply> whole;
  for (const std::string& key : parts) {
    MTMC_TRY(std::optional<ChatReply> part, recalled(memory, key));
    if (!part) return part;
    if (whole) part->text = joined(std::move(whole->text), part->text);
    whole = std::move(part);
  }
  return whole;
}

// Whether a turn of the agent's changes its draft.
bool drafts(const std::string& answer) {
  const auto call = agent_call(answer);
  if (!call.ok()) return false;
  const bool shows =
      call->tool == "compile" || call->tool == "judge" || call->tool == "profile" || call->tool == "submit";
  return call->tool == "edit" || (shows && call->code);
}

}  // namespace

bool names_answers(const NodeRecord& attempt) { return !answers_named(attempt.note).empty(); }

Result<std::optional<std::string>> code_again(Store& store, const NodeRecord& attempt, const std::string& before) {
  const bool agent = attempt.coder.starts_with("agent:");
  StoreExchanges memory(store);
  std::optional<std::string> code;
  std::optional<Error> unusable;
  for (const auto& parts : answers_named(attempt.note)) {
    MTMC_TRY(const std::optional<ChatReply> answer, whole_answer(memory, parts));
    if (!answer) return std::optional<std::string>();
    if (agent && !drafts(answer->text)) continue;
    auto next = code_in(*answer, agent && code ? *code : before);  // the agent's diffs change its draft
    if (next.ok())
      code = std::move(*next);
    else
      unusable = next.error();
  }
  if (!code && unusable) return *unusable;
  return code;
}

}  // namespace mtmc
