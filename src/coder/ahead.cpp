#include "coder/ahead.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/process.h"

namespace mtmc {
namespace {

std::string words_of(const ChatRequest& asked) {
  Json words = {asked.system, asked.answer_tokens};
  for (const ChatMessage& message : asked.messages)
    words.push_back({message.speaker == Speaker::user ? "user" : "assistant", message.text});
  return words.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

void QuestionsAhead::ask(ChatRequest asked) {
  const std::string words = words_of(asked);
  if (asked_.contains(words)) return;
  const double left = asked.seconds_left ? asked.seconds_left() : std::numeric_limits<double>::infinity();
  asked.seconds_left = [left, begun = now_seconds(), ending = ending_] {
    return *ending ? 0 : left - (now_seconds() - begun);
  };
  asked_.emplace(words, std::async(std::launch::async, [this, asked] { return ask_(asked); }).share());
}

std::optional<QuestionsAhead::Answer> QuestionsAhead::take(const ChatRequest& asked) {
  const auto found = asked_.find(words_of(asked));
  if (found == asked_.end()) return std::nullopt;
  const std::shared_future<Answer> answer = found->second;
  asked_.erase(found);
  return answer.get();
}

bool QuestionsAhead::any_answered() const {
  return std::any_of(asked_.begin(), asked_.end(), [](const auto& one) { return one.second.get().reply.ok(); });
}

void QuestionsAhead::end() {
  *ending_ = true;
  for (const auto& [words, answer] : asked_) answer.wait();
  asked_.clear();
  ending_ = std::make_shared<std::atomic<bool>>(false);
}

}  // namespace mtmc
