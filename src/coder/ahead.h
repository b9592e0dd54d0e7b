// Questions to a language model that are asked before their answers are wanted, each by a thread of its own: a search
// has several under way while it judges what earlier ones brought.
#pragma once
#include <atomic>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "coder/bill.h"

namespace mtmc {

class QuestionsAhead {
 public:
  struct Answer {
    Result<ChatReply> reply;
    Bill bill;
  };
  // Answers a question, with all that continues it, in any thread.
  using Ask = std::function<Answer(const ChatRequest&)>;

  explicit QuestionsAhead(Ask ask) : ask_(std::move(ask)) {}
  QuestionsAhead(const QuestionsAhead&) = delete;
  ~QuestionsAhead() { end(); }

  // Begins to ask, unless it is under way already. The time that is left for it is looked at now, by this thread.
  void ask(ChatRequest asked);
  // What came of it, once it is there; nothing where it was not asked.
  std::optional<Answer> take(const ChatRequest& asked);
  // Waits for all of them: has any an answer?
  bool any_answered() const;
  // What is under way was paid for, and is waited for as long as one request may take; nothing is repeated. Whoever
  // answers keeps what came of it.
  void end();

 private:
  Ask ask_;
  std::shared_ptr<std::atomic<bool>> ending_ = std::make_shared<std::atomic<bool>>(false);
  std::map<std::string, std::shared_future<Answer>> asked_;  // by what they say
};

}  // namespace mtmc
