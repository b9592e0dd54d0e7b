#include "llm/client.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "base/hash.h"
#include "base/json.h"
#include "base/process.h"

namespace mtmc {
namespace {

constexpr const char* kLonger = "a faster server, or a longer --request-time";
constexpr double kFirstDelay = 1, kLongestDelay = 30;  // seconds
constexpr double kLate = 0.1;                          // of the wait that a server asks for, the most beyond it
constexpr int kFailures = 2;                           // questions in a row without an answer, and no more are asked
constexpr double kBytesPerToken = 4;                   // about, where the server does not count

void sleep(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// What the server did not count.
Tokens counted(Tokens tokens, const std::string& body, const std::string& text) {
  const auto about = [](const std::string& of) {
    return static_cast<int64_t>(std::ceil(static_cast<double>(of.size()) / kBytesPerToken));
  };
  tokens.counted = tokens.input > 0 && tokens.output > 0;
  if (tokens.input == 0) tokens.input = about(body);
  if (tokens.output == 0) tokens.output = about(text);
  return tokens;
}

Json reply_json(const ChatReply& reply) {
  return {{"text", reply.text},
          {"stop", reply.stop == Stop::end      ? "end"
                   : reply.stop == Stop::length ? "length"
                                                : "refused"},
          {"input_tokens", reply.tokens.input},
          {"output_tokens", reply.tokens.output},
          {"counted", reply.tokens.counted},
          {"usd", reply.usd}};
}

ChatReply reply_from(const Json& json) {
  ChatReply reply;
  reply.text = json.at("text");
  const std::string stop = json.at("stop");
  reply.stop = stop == "length" ? Stop::length : stop == "refused" ? Stop::refused : Stop::end;
  reply.tokens = {json.at("input_tokens"), json.at("output_tokens"), json.at("counted")};
  reply.usd = json.at("usd");
  reply.remembered = true;
  return reply;
}

}  // namespace

Result<std::optional<ChatReply>> recalled(ExchangeMemory& memory, const std::string& key) {
  std::optional<ChatReply> reply;
  MTMC_TRY(const std::optional<std::string> known, memory.recall(key));
  if (known) reply = reply_from(Json::parse(*known).at("reply")), reply->exchange = key;
  return reply;
}

ChatClient::ChatClient(ClientParts parts, Ledger& ledger, ExchangeMemory& memory)
    : parts_(std::move(parts)), ledger_(ledger), memory_(memory) {
  if (!parts_.wait) parts_.wait = sleep;
  if (!parts_.clock) parts_.clock = now_seconds;
}

std::optional<Error> ChatClient::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

void ChatClient::end(const Error& error) {
  const std::lock_guard lock(mutex_);
  if (!ended_) ended_ = error;
}

Error ChatClient::error(std::string wrong, std::string got, std::string wanted) const {
  return {"asking " + parts_.model.name, std::move(wrong), scrub(std::move(got)), std::move(wanted)};
}

Result<ChatReply> ChatClient::ask(const ChatRequest& request) {
  ChatRequest clean = request;  // a candidate's output may have found the key file
  clean.system = scrub(std::move(clean.system));
  for (ChatMessage& message : clean.messages) message.text = scrub(std::move(message.text));
  const Json body = request_body(parts_.model, clean);
  const std::string key = sha256(request_url(parts_.model) + "\n" + dump(body));
  MTMC_TRY(std::optional<ChatReply> known, recalled(memory_, key));
  if (known) {
    ledger_.remembered();
    return std::move(*known);
  }
  if (const auto ended = this->ended()) return *ended;
  const double start = parts_.clock();
  MTMC_TRY(ChatReply reply, send(body, clean));
  const Json exchange = {{"model", parts_.model.name},
                         {"url", request_url(parts_.model)},
                         {"request", body},
                         {"reply", reply_json(reply)},
                         {"seconds", parts_.clock() - start}};
  MTMC_RETURN_IF_ERROR(memory_.remember(key, dump(exchange)));
  reply.exchange = key;
  return reply;
}

// Of the limits that hold for a question the one that ends it first.
ChatClient::Time ChatClient::time_left(double start, const ChatRequest& request) const {
  const Time own{parts_.limits.question_seconds - (parts_.clock() - start), kLonger};
  const double asker = request.seconds_left ? request.seconds_left() : own.seconds;
  return asker < own.seconds ? Time{asker, "a faster server, or a longer --time"} : own;
}

// Repeats until there is an answer, or no hope of one within the limits.
Result<ChatReply> ChatClient::send(const Json& body, const ChatRequest& request) {
  const ClientLimits& limits = parts_.limits;
  const std::string text = dump(body);
  const double start = parts_.clock();
  std::optional<Error> before;  // what stood in the way of the last attempt
  for (int repetition = 0;; ++repetition) {
    Time time = time_left(start, request);
    if (time.seconds < std::min(kLeastSeconds, limits.request_seconds))
      return before.value_or(error("there is no time left for it", "", time.longer));
    if (limits.request_seconds < time.seconds) time = {limits.request_seconds, kLonger};
    Attempt tried = attempt(text, time, request);
    if (tried.reply) {
      const std::lock_guard lock(mutex_);
      failures_ = 0;
      return std::move(*tried.reply);
    }
    if (tried.final) end(tried.error);
    if (!tried.again && !tried.refused) return tried.error;
    const double wait = delay(repetition, tried.retry_after);
    const int most = tried.unreachable ? limits.unreachable : limits.repetitions;
    if (tried.again && repetition < most && wait < time_left(start, request).seconds) {
      before = tried.error;
      parts_.wait(wait);
      continue;
    }
    if (tried.again)
      tried.error.wrong += fmt::format(" ({} attempts in {:.0f} s)", repetition + 1, parts_.clock() - start);
    if (request.seconds_left && request.seconds_left() < kLeastSeconds)
      return tried.error;  // it says nothing of the next
    bool last = tried.unreachable;
    {
      const std::lock_guard lock(mutex_);
      last = ++failures_ >= kFailures || last;
    }
    if (last) end(tried.error);
    return tried.error;
  }
}

ChatClient::Attempt ChatClient::attempt(const std::string& body, const Time& time, const ChatRequest& request) {
  const auto lost = [](const Error& why) {
    return Attempt{.reply = {}, .error = why, .final = true, .retry_after = {}};
  };
  const std::optional<Price>& price = parts_.model.price;
  // No tokenizer makes more tokens than there are bytes.
  const Tokens all{static_cast<int64_t>(body.size()), answer_tokens(parts_.model, request)};
  const double most = price ? usd(all, *price) : 0;
  const std::optional<double> reserved = price ? std::optional(most) : std::nullopt;
  if (const Status kept = ledger_.reserve(reserved); !kept.ok()) return lost(kept.error());
  // Others may have been waited for.
  const double seconds = request.seconds_left ? std::min(time.seconds, request.seconds_left()) : time.seconds;
  if (seconds <= 0) {
    ledger_.give_back(reserved);
    return {.reply = {}, .error = error("there is no time left for it", "", time.longer), .retry_after = {}};
  }
  HttpRequest sent{.url = request_url(parts_.model), .body = body, .headers = {"Content-Type: application/json"}};
  sent.total_seconds = seconds, sent.idle_seconds = parts_.limits.idle_seconds;
  if (const std::string header = parts_.key.header(parts_.model.protocol); !header.empty())
    sent.headers.push_back(header);
  if (parts_.model.protocol == Protocol::messages) sent.headers.push_back("anthropic-version: 2023-06-01");
  AnswerReader reader(parts_.model.protocol);
  const HttpResponse response = parts_.transport(sent, [&](std::string_view piece) { reader.feed(piece); });
  Attempt attempt = judge(response, reader, time);
  Tokens tokens;
  double cost = 0;
  bool sure = true;
  if (attempt.reply) {
    ChatReply& reply = *attempt.reply;
    reply.text = scrub(std::move(reply.text));
    tokens = reply.tokens = counted(reply.tokens, body, reply.text);
    cost = reply.usd = usd(reply.tokens, price.value_or(Price{}));
  } else if (!attempt.unreachable && (response.status == 200 || response.status == 0)) {
    // Sent, and neither answered nor refused: what was written or thought until then may be on the bill.
    tokens = counted(reader.reply().tokens, body, reader.reply().text);
    cost = most, sure = false;
  }
  if (const Status booked = ledger_.settle(most, tokens, cost, sure); !booked.ok()) return lost(booked.error());
  return attempt;
}

ChatClient::Attempt ChatClient::judge(const HttpResponse& response, AnswerReader& reader, const Time& time) const {
  using Failure = HttpResponse::Failure;
  Attempt attempt;
  attempt.retry_after = response.retry_after;
  attempt.again = true;
  if (response.failure == Failure::unreachable) {
    attempt.unreachable = true;
    attempt.error = error("no connection to the server", request_url(parts_.model) + ": " + response.detail,
                          "a network, a proxy (https_proxy) or another --base-url");
  } else if (response.failure == Failure::timed_out) {
    attempt.error =
        error("the server did not answer in time",
              fmt::format("{} within {:.0f} s", reader.bytes() > 0 ? "no end" : "nothing", time.seconds), time.longer);
  } else if (response.failure == Failure::idle) {
    attempt.error =
        error("the server fell silent", fmt::format("nothing more for {:.0f} s", parts_.limits.idle_seconds), "");
  } else if (response.status == 200 && response.failure == Failure::none && reader.complete()) {
    attempt.reply = reader.reply();
  } else if (response.status == 200 || response.status == 0) {
    const std::string why = !reader.error().empty()   ? reader.error()
                            : response.detail.empty() ? "the end came too early"
                                                      : response.detail;
    attempt.error = error("the answer broke off", why, "");
  } else {
    judge_refusal(refusal_of(response.status, response.body), response.status, attempt);
  }
  return attempt;
}

void ChatClient::judge_refusal(const Refusal& refusal, long status, Attempt& attempt) const {
  const std::string got = fmt::format("{} {}", status, refusal.message);
  if (!attempt.retry_after) attempt.retry_after = refusal.retry_after;
  attempt.again = refusal.kind == RefusalKind::again;
  attempt.refused = refusal.kind == RefusalKind::request;
  attempt.final =
      refusal.kind == RefusalKind::key || refusal.kind == RefusalKind::model || refusal.kind == RefusalKind::money;
  switch (refusal.kind) {
    case RefusalKind::again: attempt.error = error("the server is busy or in trouble", got, ""); break;
    case RefusalKind::too_long:
      attempt.error = error("the prompt is too long for the model", got, "a model with a longer context");
      break;
    case RefusalKind::request: attempt.error = error("the server refuses the request", got, ""); break;
    case RefusalKind::key:
      attempt.error = error("the key is refused", got, "a valid key in $" + parts_.model.key + " or --key-file");
      break;
    case RefusalKind::model:
      attempt.error = error("the server does not know the model", got, "--model and --base-url that go together");
      break;
    case RefusalKind::money: attempt.error = error("the account has no money left", got, ""); break;
  }
}

// Doubled each time, with half of it left to chance; what the server asks for is waited in full, and a little longer by
// chance: it asks all of its clients for the same.
double ChatClient::delay(int repetition, const std::optional<double>& asked) const {
  static thread_local std::mt19937 chance{std::random_device{}()};
  const double longest = std::min(kLongestDelay, kFirstDelay * std::pow(2.0, repetition));
  const double some = longest * std::uniform_real_distribution<double>(0.5, 1)(chance);
  const double late = std::uniform_real_distribution<double>(1, 1 + kLate)(chance);
  return asked ? std::max(*asked * late, some) : some;
}

}  // namespace mtmc
