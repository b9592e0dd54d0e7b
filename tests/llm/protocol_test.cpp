// Requests and answers of both protocols, as bytes.
#include "llm/protocol.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/tempdir.h"

namespace mtmc {
namespace {

ModelFacts facts(const char* name) { return find_model(name, "", "/nowhere").value(); }

// Fed in pieces of every size, the answer is the same.
std::unique_ptr<AnswerReader> read(Protocol protocol, const std::string& bytes, size_t piece) {
  auto reader = std::make_unique<AnswerReader>(protocol);
  for (size_t at = 0; at < bytes.size(); at += piece) reader->feed(std::string_view(bytes).substr(at, piece));
  return reader;
}

constexpr const char* kChat =
    "\r\n: a comment\r\n"
    "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\r\n\r\n"
    "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\"}}]}\r\n\r\n"
    "data: {\"choices\":[{\"delta\":{\"content\":\"Gr\xc3\xbc\xc3\x9f\"}}]}\r\n\r\n"
    "data: {\"choices\":[{\"delta\":{\"content\":\" Gott\"},\"finish_reason\":\"length\"}]}\r\n\r\n"
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":34}}\r\n\r\n"
    "data: [DONE]\r\n\r\n";

constexpr const char* kMessages =
    "event: message_start\n"
    "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":9,\"cache_read_input_tokens\":3,"
    "\"output_tokens\":1}}}\n\n"
    "event: ping\ndata: {\"type\":\"ping\"}\n\n"
    "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"hm\"}}\n\n"
    "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"Hello\"}}\n\n"
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":40}}\n\n"
    "data: {\"type\":\"message_stop\"}\n\n";

TEST(Protocol, ReadsStreamsInPiecesOfAnySize) {
  for (const size_t piece : {1u, 2u, 3u, 7u, 64u, 10000u}) {
    const auto chat = read(Protocol::chat, kChat, piece);
    ASSERT_TRUE(chat->complete());
    EXPECT_EQ(chat->reply().text, "Gr\xc3\xbc\xc3\x9f Gott");
    EXPECT_EQ(chat->reply().stop, Stop::length);
    EXPECT_EQ(chat->reply().tokens.input, 12);
    EXPECT_EQ(chat->reply().tokens.output, 34);
    const auto messages = read(Protocol::messages, kMessages, piece);
    ASSERT_TRUE(messages->complete());
    EXPECT_EQ(messages->reply().text, "Hello");
    EXPECT_EQ(messages->reply().stop, Stop::end);
    EXPECT_EQ(messages->reply().tokens.input, 12);
    EXPECT_EQ(messages->reply().tokens.output, 40);
  }
}

TEST(Protocol, AStreamWithoutItsEndIsNoAnswer) {
  const std::string chat = kChat, messages = kMessages;
  EXPECT_FALSE(read(Protocol::chat, chat.substr(0, chat.find(" Gott")), 10)->complete());
  EXPECT_FALSE(read(Protocol::messages, messages.substr(0, messages.find("message_stop")), 10)->complete());
  EXPECT_FALSE(read(Protocol::chat, "", 1)->complete());
  const auto failed =
      read(Protocol::messages, "data: {\"type\":\"error\",\"error\":{\"message\":\"Overloaded\"}}\n\n", 9);
  EXPECT_FALSE(failed->complete());
  EXPECT_EQ(failed->error(), "Overloaded");
}

TEST(Protocol, TakesAnswersThatDoNotStream) {
  const auto chat = read(Protocol::chat,
                         R"( {"choices":[{"message":{"content":"all"},"finish_reason":"stop"}],
                               "usage":{"prompt_tokens":1,"completion_tokens":2}})",
                         5);
  ASSERT_TRUE(chat->complete());
  EXPECT_EQ(chat->reply().text, "all");
  const auto messages = read(
      Protocol::messages,
      R"({"type":"message","content":[{"type":"text","text":"all"}],"stop_reason":"max_tokens","usage":{"input_tokens":5}})",
      5);
  ASSERT_TRUE(messages->complete());
  EXPECT_EQ(messages->reply().text, "all");
  EXPECT_EQ(messages->reply().stop, Stop::length);
}

TEST(Protocol, WritesWhatEachServerWants) {
  const ChatRequest request{
      .system = "rules", .messages = {{Speaker::user, "q"}, {Speaker::assistant, "a"}}, .answer_tokens = 9999};
  const Json chat = request_body(facts("o4-mini"), request);
  EXPECT_EQ(chat["messages"].dump(), R"([{"content":"rules","role":"system"},{"content":"q","role":"user"},)"
                                     R"({"content":"a","role":"assistant"}])");
  EXPECT_EQ(chat["max_completion_tokens"], 9999);
  EXPECT_EQ(chat["stream_options"]["include_usage"], true);
  EXPECT_EQ(request_url(facts("o4-mini")), "https://api.openai.com/v1/chat/completions");
  const Json messages = request_body(facts("claude-sonnet-4"), request);
  EXPECT_EQ(messages["system"], "rules");
  EXPECT_EQ(messages["messages"].size(), 2u);
  EXPECT_EQ(messages["model"], "claude-sonnet-4-20250514");
  EXPECT_FALSE(messages.contains("stream_options"));
  EXPECT_EQ(request_url(facts("claude-sonnet-4")), "https://api.anthropic.com/v1/messages");
  EXPECT_EQ(request_body(facts("deepseek-v3"), request)["max_tokens"], 8192) << "no more than it writes";
}

TEST(Protocol, TellsRefusalsApart) {
  const auto kind = [](long status, const char* body) { return refusal_of(status, body).kind; };
  EXPECT_EQ(kind(401, "{}"), RefusalKind::key);
  EXPECT_EQ(kind(400, R"([{"error":{"message":"API key not valid. Please pass a valid API key."}}])"),
            RefusalKind::key);
  EXPECT_EQ(kind(404, R"({"error":{"message":"The model `x` does not exist"}})"), RefusalKind::model);
  EXPECT_EQ(kind(400, R"({"error":{"message":"This model's maximum context length is 8192 tokens."}})"),
            RefusalKind::too_long);
  EXPECT_EQ(kind(400, R"({"type":"error","error":{"message":"prompt is too long: 9 tokens > 8 maximum"}})"),
            RefusalKind::too_long);
  EXPECT_EQ(kind(400, R"({"error":{"message":"Model Not Exist","type":"invalid_request_error"}})"), RefusalKind::model);
  EXPECT_EQ(kind(429, R"({"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}})"),
            RefusalKind::money);
  EXPECT_EQ(kind(429, R"({"error":{"message":"You exceeded your current quota","type":"insufficient_quota"}})"),
            RefusalKind::money);
  EXPECT_EQ(kind(402, R"({"error":{"message":"Insufficient Balance"}})"), RefusalKind::money);
  EXPECT_EQ(kind(400, R"({"type":"error","error":{"message":"Your credit balance is too low to access the API"}})"),
            RefusalKind::money);
  EXPECT_EQ(kind(429, "slow down"), RefusalKind::again);
  EXPECT_EQ(kind(529, "{}"), RefusalKind::again);
  EXPECT_EQ(kind(400, R"({"error":"no"})"), RefusalKind::request);
  EXPECT_EQ(refusal_of(500, std::string(1000, 'x') + "\n").message.size(), 304u);
  EXPECT_EQ(refusal_of(500, "a\nb").message, "a b");
}

// Google says the same of a limit per minute as OpenAI of an empty account.
TEST(Protocol, ALimitPerMinuteIsWaitedOut) {
  const std::string words = "You exceeded your current quota, please check your plan and billing details. " +
                            std::string(300, '.') + " Please retry in 26.5s.";
  const Json error = {{"code", 429}, {"message", words}, {"status", "RESOURCE_EXHAUSTED"}};
  const Refusal told = refusal_of(429, Json::array({{{"error", error}}}).dump());
  EXPECT_EQ(told.kind, RefusalKind::again);
  EXPECT_EQ(told.retry_after, 26.5);
  Json detailed = error;
  detailed["details"] = {{{"@type", "type.googleapis.com/google.rpc.QuotaFailure"}},
                         {{"@type", "type.googleapis.com/google.rpc.RetryInfo"}, {"retryDelay", "31s"}}};
  EXPECT_EQ(refusal_of(429, Json{{"error", detailed}}.dump()).retry_after, 31);
  EXPECT_EQ(refusal_of(429, "Rate limit reached. Please try again in 800ms.").retry_after, 0.8);
  EXPECT_FALSE(refusal_of(429, "Please try again in a while").retry_after);
  EXPECT_FALSE(refusal_of(429, R"({"error":{"details":"none","message":5}})").retry_after);
}

TEST(Protocol, WhatWasThoughtIsOnTheBill) {
  const std::string choice = R"({"choices":[{"message":{"content":"x"},"finish_reason":"stop"}],"usage":)";
  const auto apart =
      read(Protocol::chat, choice + R"({"prompt_tokens":10,"completion_tokens":5,"total_tokens":915}})", 9);
  ASSERT_TRUE(apart->complete());
  EXPECT_EQ(apart->reply().tokens.output, 905);
  const auto within =
      read(Protocol::chat, choice + R"({"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}})", 9);
  ASSERT_TRUE(within->complete());
  EXPECT_EQ(within->reply().tokens.output, 5);
}

TEST(Model, TheUsersTableWins) {
  TempDir dir;
  const auto table = dir.path() / "models.json";
  ASSERT_TRUE(write_file(table, R"([{"name":"o4-mini","input":7,"output":8},
                                   {"name":"mine","url":"http://box:8000/v1/","input":0,"output":0}])")
                  .ok());
  const auto known = find_model("o4-mini", "", table);
  ASSERT_TRUE(known.ok()) << known.error().message();
  EXPECT_EQ(known->price->input, 7);
  EXPECT_EQ(known->url, "https://api.openai.com/v1");
  const auto mine = find_model("mine", "", table);
  ASSERT_TRUE(mine.ok()) << mine.error().message();
  EXPECT_EQ(mine->url, "http://box:8000/v1");
  EXPECT_FALSE(mine->needs_key);
  const auto local = find_model("anything", "http://localhost:1/v1", table);
  ASSERT_TRUE(local.ok());
  EXPECT_FALSE(local->price.has_value());
  EXPECT_EQ(find_model("deepseek-chat", "", table)->name, "deepseek-v3") << "by the server's word, too";
  ASSERT_TRUE(write_file(table, R"([{"name":"o4-mini","input":"much"}])").ok());
  EXPECT_EQ(
      find_model("o4-mini", "", table).error().message(),
      "reading " + table.string() + ": the field input of o4-mini is wrong: got string, wanted a number, at least 0");
}

TEST(Model, AKeyInTheWrongPlaceIsNotRepeated) {
  TempDir dir;
  const auto table = dir.path() / "models.json";
  for (const char* field : {"key", "input", "most"})
    for (const char* value : {"sk-live-0123", "AIzaSy0123", "0123456789"}) {
      ASSERT_TRUE(write_file(table, Json::array({{{"name", "o4-mini"}, {field, value}}}).dump()).ok());
      const auto found = find_model("o4-mini", "", table);
      ASSERT_FALSE(found.ok()) << field << " " << value;
      EXPECT_EQ(found.error().message().find(value), std::string::npos) << found.error().message();
      EXPECT_NE(found.error().message().find("the field " + std::string(field)), std::string::npos);
      EXPECT_EQ(key_variables(table), key_variables("/nowhere")) << "it is no variable, either";
    }
  ASSERT_TRUE(write_file(table, R"([{"name":"o4-mini","key":"MY_KEY_2"}])").ok());
  EXPECT_EQ(find_model("o4-mini", "", table)->key, "MY_KEY_2");
}

TEST(Model, ATableThatIsNamedMustBeThere) {
  setenv("MTMC_MODELS", "/nowhere/models.json", 1);
  const auto found = find_model("o4-mini", "");
  const bool keys = key_variables().contains("OPENAI_API_KEY");
  unsetenv("MTMC_MODELS");
  ASSERT_FALSE(found.ok());
  EXPECT_TRUE(found.error().message().starts_with(
      "reading the user's models: there is no such file: got MTMC_MODELS=/nowhere/models.json, wanted a file with "))
      << found.error().message();
  EXPECT_TRUE(keys) << "keys are taken all the same";
}

TEST(Model, UnknownOnesAreTold) {
  const Error error = find_model("gpt-2", "", "/nowhere").error();
  EXPECT_EQ(error.wrong, "nobody knows it");
  EXPECT_NE(error.wanted.find("gemini-2.5-pro|"), error.wanted.npos) << error.wanted;
  EXPECT_EQ(find_model("", "", "/nowhere").error().wrong, "none is named");
  EXPECT_EQ(find_model("x", "ftp://host", "/nowhere").error().wrong, "its address is none of the web");
}

}  // namespace
}  // namespace mtmc
