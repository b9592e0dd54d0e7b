#include "llm/protocol.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace mtmc {
namespace {

constexpr size_t kShownError = 300;                     // bytes of a server's message
constexpr const char* kNoQuota = "insufficient_quota";  // OpenAI's code and type where the money is spent

Json parsed(const std::string& text) { return Json::parse(text, nullptr, false); }

// A text at a path of objects and arrays; empty where there is none.
std::string text_at(const Json& json, const char* path) {
  const Json::json_pointer at(path);
  return json.contains(at) && json.at(at).is_string() ? json.at(at).get<std::string>() : "";
}

int64_t number_at(const Json& json, const char* path, int64_t otherwise) {
  const Json::json_pointer at(path);
  return json.contains(at) && json.at(at).is_number() ? json.at(at).get<int64_t>() : otherwise;
}

Stop stop_of(const std::string& word) {
  if (word == "length" || word == "max_tokens") return Stop::length;
  if (word == "content_filter" || word == "refusal") return Stop::refused;
  return Stop::end;
}

std::string error_text(const Json& json) {
  for (const char* path : {"/error/message", "/error", "/message", "/detail", "/0/error/message"})
    if (std::string text = text_at(json, path); !text.empty()) return text;
  return json.is_object() && json.contains("error") ? json["error"].dump() : "";
}

// "26s", "1.04s", "800ms", as far as it reads so.
std::optional<double> seconds_in(const char* text) {
  char* end = nullptr;
  const double number = std::strtod(text, &end);
  const std::string_view unit = std::string_view(end).substr(0, 2);
  if (end == text || !(number >= 0)) return std::nullopt;
  if (unit == "ms") return number / 1e3;
  return unit.starts_with('s') ? std::optional(number) : std::nullopt;
}

// What a refusal's text asks us to wait: Google's RetryInfo, or "retry in 26s", "try again in 800ms". `low`: the
// message in small letters.
std::optional<double> wait_asked(const Json& json, const std::string& low) {
  for (const char* path : {"/error/details", "/0/error/details"}) {
    const Json::json_pointer at(path);
    if (!json.contains(at) || !json.at(at).is_array()) continue;
    for (const Json& detail : json.at(at))
      if (const auto seconds = seconds_in(text_at(detail, "/retryDelay").c_str())) return seconds;
  }
  for (const std::string words : {"retry in ", "try again in "})
    if (const size_t at = low.find(words); at != low.npos) return seconds_in(low.c_str() + at + words.size());
  return std::nullopt;
}

bool says(const std::string& text, std::initializer_list<const char*> any) {
  return std::any_of(any.begin(), any.end(), [&](const char* word) { return text.find(word) != text.npos; });
}

}  // namespace

int answer_tokens(const ModelFacts& model, const ChatRequest& request) {
  return model.most > 0 ? std::min(model.most, request.answer_tokens) : request.answer_tokens;
}

std::string request_url(const ModelFacts& model) {
  return model.url + (model.protocol == Protocol::chat ? "/chat/completions" : "/messages");
}

Json request_body(const ModelFacts& model, const ChatRequest& request) {
  Json messages = Json::array();
  if (model.protocol == Protocol::chat && !request.system.empty())
    messages.push_back({{"role", "system"}, {"content", request.system}});
  for (const ChatMessage& message : request.messages)
    messages.push_back({{"role", message.speaker == Speaker::user ? "user" : "assistant"}, {"content", message.text}});
  Json body = {
      {"model", model.model}, {"messages", messages}, {"stream", true}, {model.limit, answer_tokens(model, request)}};
  if (model.protocol == Protocol::chat)
    body["stream_options"] = {{"include_usage", true}};
  else if (!request.system.empty())
    body["system"] = request.system;
  return body;
}

void EventStream::feed(std::string_view piece) {
  rest_ += piece;
  size_t begin = 0;
  for (size_t end; (end = rest_.find('\n', begin)) != rest_.npos; begin = end + 1) {
    std::string_view one(rest_.data() + begin, end - begin);
    if (one.ends_with('\r')) one.remove_suffix(1);
    line(one);
  }
  rest_.erase(0, begin);
}

void EventStream::line(std::string_view text) {
  if (text.empty()) {
    if (!data_.empty()) on_data_(data_);
    data_.clear();
  } else if (text.starts_with("data:")) {
    text.remove_prefix(5);
    if (text.starts_with(' ')) text.remove_prefix(1);
    data_ += (data_.empty() ? "" : "\n") + std::string(text);
  }  // comments, names and numbers of events say nothing that the data does not
}

void AnswerReader::feed(std::string_view piece) {
  bytes_ += piece.size();
  if (form_ == Form::events) return events_.feed(piece);
  whole_ += piece;
  const size_t first = whole_.find_first_not_of(" \r\n\t");
  if (form_ == Form::value || first == whole_.npos) return;
  form_ = whole_[first] == '{' ? Form::value : Form::events;
  if (form_ == Form::events) events_.feed(whole_);
}

bool AnswerReader::complete() {
  if (form_ == Form::events) events_.feed("\n\n");  // some servers end without the empty line
  if (form_ == Form::value && !ended_) event(whole_);
  return ended_ && error_.empty();
}

void AnswerReader::event(const std::string& data) {
  if (data == "[DONE]") {
    ended_ = true;
    return;
  }
  const Json json = parsed(data);
  if (!json.is_object()) return;
  if (json.contains("error") && !json["error"].is_null()) {
    error_ = error_text(json);
    if (error_.empty()) error_ = "an error without a word";
    return;
  }
  protocol_ == Protocol::chat ? chat_event(json) : messages_event(json);
}

void AnswerReader::chat_event(const Json& json) {
  reply_.text += text_at(json, "/choices/0/delta/content") + text_at(json, "/choices/0/message/content");
  if (const std::string word = text_at(json, "/choices/0/finish_reason"); !word.empty()) {
    reply_.stop = stop_of(word);
    ended_ = true;
  }
  reply_.tokens.input = number_at(json, "/usage/prompt_tokens", reply_.tokens.input);
  reply_.tokens.output = number_at(json, "/usage/completion_tokens", reply_.tokens.output);
  // What was thought is on the bill like what was written; some servers count it in the sum only.
  if (const int64_t total = number_at(json, "/usage/total_tokens", 0); total > 0)
    reply_.tokens.output = std::max(reply_.tokens.output, total - reply_.tokens.input);
}

void AnswerReader::messages_event(const Json& json) {
  const std::string type = text_at(json, "/type");
  if (type == "content_block_delta") reply_.text += text_at(json, "/delta/text");
  if (type == "message" && json.contains("content"))
    for (const Json& block : json["content"]) reply_.text += text_at(block, "/text");
  for (const char* usage : {"/message/usage", "/usage"}) {
    const std::string at = usage;
    const int64_t read = number_at(json, (at + "/cache_read_input_tokens").c_str(), 0) +
                         number_at(json, (at + "/cache_creation_input_tokens").c_str(), 0);
    if (const int64_t input = number_at(json, (at + "/input_tokens").c_str(), -1); input >= 0)
      reply_.tokens.input = input + read;
    reply_.tokens.output = number_at(json, (at + "/output_tokens").c_str(), reply_.tokens.output);
  }
  for (const char* path : {"/delta/stop_reason", "/stop_reason"})
    if (const std::string word = text_at(json, path); !word.empty()) reply_.stop = stop_of(word);
  if (type == "message_stop" || type == "message") ended_ = true;
}

Refusal refusal_of(long status, const std::string& body) {
  const Json json = parsed(body);
  std::string message = json.is_discarded() ? body : error_text(json);
  for (char& c : message)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  std::string low = message;
  std::transform(low.begin(), low.end(), low.begin(), [](unsigned char c) { return std::tolower(c); });
  if (message.size() > kShownError) message = message.substr(0, kShownError) + " ...";
  const std::optional<double> wait = wait_asked(json, low);
  const auto refused = [&](RefusalKind kind) { return Refusal{kind, message, wait}; };
  const bool no_quota = text_at(json, "/error/code") == kNoQuota || text_at(json, "/error/type") == kNoQuota;
  if (status == 401 || status == 403 || says(low, {"api key not valid", "invalid api key", "incorrect api key"}))
    return refused(RefusalKind::key);
  if (status == 402 || no_quota || (status == 400 && says(low, {"credit balance is too low"})))
    return refused(RefusalKind::money);
  if (status == 404 ||
      says(low, {"model not found", "model not exist", "unknown model", "invalid model", "is not a valid model"}))
    return refused(RefusalKind::model);
  if (status == 413 || says(low, {"context length", "context_length", "too long", "maximum context", "context window",
                                  "context size", "too many tokens"}))
    return refused(RefusalKind::too_long);
  if (status == 408 || status == 409 || status == 425 || status == 429 || status >= 500)
    return refused(RefusalKind::again);
  return refused(RefusalKind::request);
}

}  // namespace mtmc
