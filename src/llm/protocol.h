// What is sent to a model's server and what comes back, without the network: requests as JSON, answers as a stream of
// server-sent events (or, from servers that do not stream, one JSON value), refusals as a kind and a sentence.
// Sources: the API references of OpenAI (chat completions) and Anthropic (messages), and the HTML standard's 9.2.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "llm/ledger.h"
#include "llm/model.h"

namespace mtmc {

// Less than that is no time for a question.
inline constexpr double kLeastSeconds = 1;

enum class Speaker { user, assistant };
struct ChatMessage {
  Speaker speaker = Speaker::user;
  std::string text;
};

struct ChatRequest {
  std::string system;  // may be empty
  std::vector<ChatMessage> messages;
  int answer_tokens = 16384;  // the most that may be written
  // What is left of the time of whoever asks, beside the client's own limits; empty: no limit. No part of the question.
  std::function<double()> seconds_left = {};
};

// Why an answer ends: the model was done, the limit of tokens was reached, or the server would not go on.
enum class Stop { end, length, refused };

struct ChatReply {
  std::string text;
  Stop stop = Stop::end;
  Tokens tokens;
  double usd = 0;           // what it cost when it was asked
  bool remembered = false;  // the store had it: nothing was sent
  std::string exchange;     // what the memory keeps it under
};

// The most tokens that this model is asked to write.
int answer_tokens(const ModelFacts& model, const ChatRequest& request);
// The address and the body of a request; the key is in neither.
std::string request_url(const ModelFacts& model);
Json request_body(const ModelFacts& model, const ChatRequest& request);

// Puts server-sent events together from pieces that end anywhere; calls back with each event's data.
class EventStream {
 public:
  explicit EventStream(std::function<void(const std::string&)> on_data) : on_data_(std::move(on_data)) {}
  void feed(std::string_view piece);

 private:
  void line(std::string_view text);
  std::function<void(const std::string&)> on_data_;
  std::string rest_, data_;
};

// An answer as it comes.
class AnswerReader {
 public:
  explicit AnswerReader(Protocol protocol) : protocol_(protocol) {}
  AnswerReader(const AnswerReader&) = delete;
  void feed(std::string_view piece);
  // Whether the answer came to its end; else the stream is broken off. Ask when the connection is closed.
  bool complete();
  const ChatReply& reply() const { return reply_; }
  // What the server said in place of an answer, in the middle of a stream; empty: nothing.
  const std::string& error() const { return error_; }
  size_t bytes() const { return bytes_; }

 private:
  void event(const std::string& data);
  void chat_event(const Json& json);
  void messages_event(const Json& json);
  enum class Form { unknown, events, value };
  Protocol protocol_;
  Form form_ = Form::unknown;
  EventStream events_{[this](const std::string& data) { event(data); }};
  ChatReply reply_;
  std::string error_, whole_;  // whole_: what is no stream, or not known yet
  bool ended_ = false;
  size_t bytes_ = 0;
};

// What follows from a refusal. Where servers use the same words for two things, what is taken for lasting is what only
// that can mean: a limit of requests per minute that speaks of plan and billing is waited out.
enum class RefusalKind {
  again,     // too many requests, or the server has trouble: later it may work
  too_long,  // this prompt does not fit the model
  request,   // this request is refused for a reason of its own
  key,       // the key is refused
  model,     // the server has no such model, or the address is wrong
  money,     // the account is empty
};
struct Refusal {
  RefusalKind kind = RefusalKind::request;
  std::string message;                     // the server's own words, one line, shortened
  std::optional<double> retry_after = {};  // seconds that those words ask us to wait
};
// `body`: what came with an HTTP status other than 200, JSON or not.
Refusal refusal_of(long status, const std::string& body);

}  // namespace mtmc
