// Questions to a language model: remembered ones from the store, others over HTTP, with patience and within limits of
// time and money. Several threads may ask at once.
#pragma once
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "llm/http.h"
#include "llm/key.h"
#include "llm/ledger.h"
#include "llm/model.h"
#include "llm/protocol.h"

namespace mtmc {

// Where exchanges are kept, by the hash of all that the answer depends on: a question that was asked before costs
// nothing and needs no network. Where several threads ask, it is called by several.
class ExchangeMemory {
 public:
  virtual ~ExchangeMemory() = default;
  virtual Result<std::optional<std::string>> recall(const std::string& key) = 0;
  virtual Status remember(const std::string& key, const std::string& value) = 0;
};

// The answer that is kept under a key; none where the memory has none.
Result<std::optional<ChatReply>> recalled(ExchangeMemory& memory, const std::string& key);

struct ClientLimits {
  double request_seconds = 300;   // one request
  double question_seconds = 900;  // one question, with all its repetitions and the waits between them
  double idle_seconds = 120;      // between one byte of an answer and the next
  int repetitions = 5;            // of a request that may succeed later
  int unreachable = 2;            // the same where there is no connection at all
};

// What a client is made of; tests replace the last three.
struct ClientParts {
  ModelFacts model;
  Key key;
  ClientLimits limits = {};
  Transport transport = post;
  std::function<void(double seconds)> wait = {};  // empty: sleep
  std::function<double()> clock = {};             // empty: now_seconds
};

class ChatClient {
 public:
  // The references must outlive the client.
  ChatClient(ClientParts parts, Ledger& ledger, ExchangeMemory& memory);

  // The answer, or what stood in the way. The key is in no message and in no answer.
  Result<ChatReply> ask(const ChatRequest& request);

  // Why no question can succeed any more: the key is refused, there is no such model or no connection, the money is
  // spent, or two questions in a row got no answer. From then on only the memory answers.
  std::optional<Error> ended() const;
  const ModelFacts& model() const { return parts_.model; }
  std::string scrub(std::string text) const { return parts_.key.scrub(std::move(text)); }

 private:
  struct Attempt {
    std::optional<ChatReply> reply;
    Error error;                        // where there is none
    bool again = false, final = false;  // a repetition may succeed; no question can
    bool refused = false;               // for a reason that nobody here knows: the next question may be, too
    bool unreachable = false;
    std::optional<double> retry_after;
  };
  struct Time {
    double seconds = 0;
    const char* longer = "";  // what to say for more
  };
  Result<ChatReply> send(const Json& body, const ChatRequest& request);
  Time time_left(double start, const ChatRequest& request) const;
  Attempt attempt(const std::string& body, const Time& time, const ChatRequest& request);
  Attempt judge(const HttpResponse& response, AnswerReader& reader, const Time& time) const;
  void judge_refusal(const Refusal& refusal, long status, Attempt& attempt) const;
  double delay(int repetition, const std::optional<double>& asked) const;
  void end(const Error& error);
  Error error(std::string wrong, std::string got, std::string wanted) const;

  ClientParts parts_;
  Ledger& ledger_;
  ExchangeMemory& memory_;
  mutable std::mutex mutex_;
  std::optional<Error> ended_;
  int failures_ = 0;  // questions in a row without an answer
};

}  // namespace mtmc
