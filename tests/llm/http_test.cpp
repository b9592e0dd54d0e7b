// The client and a server that plays every failure, over HTTP on this machine.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/file.h"
#include "base/process.h"
#include "base/tempdir.h"
#include "base/text.h"
#include "llm/client.h"
#include "support/source_dir.h"

namespace mtmc {
namespace {

constexpr const char* kSecret = "sk-test-9876543210";

struct SharedMemory final : ExchangeMemory {
  Result<std::optional<std::string>> recall(const std::string& key) override {
    const std::lock_guard lock(mutex);
    const auto at = kept.find(key);
    return at == kept.end() ? std::nullopt : std::optional(at->second);
  }
  Status remember(const std::string& key, const std::string& value) override {
    const std::lock_guard lock(mutex);
    kept[key] = value;
    return ok_status();
  }
  std::mutex mutex;
  std::map<std::string, std::string> kept;
};

class Http : public ::testing::Test {
 protected:
  void play(const Json& script) {
    ASSERT_TRUE(write_file(folder_.path() / "script.json", script.dump()).ok());
    auto started = LineProcess::start(
        {.argv = {"bash", "-c", "exec \"$@\" >&4", "bash", "python3", source_dir() + "/tests/llm/server.py",
                  (folder_.path() / "script.json").string(), (folder_.path() / "log").string()}});
    ASSERT_TRUE(started.ok()) << started.error().message();
    server_.emplace(std::move(*started));
    const auto port = server_->receive(30);
    ASSERT_TRUE(port.ok()) << port.error().message();
    url_ = "http://127.0.0.1:" + *port + "/v1";
  }

  ChatClient client(const char* model = "o4-mini", double seconds = 20, double idle = 20) {
    ClientParts parts{.model = find_model(model, url_, "/nowhere").value(), .key = Key::of(kSecret, "test").value()};
    parts.limits.request_seconds = seconds, parts.limits.idle_seconds = idle;
    parts.wait = [this](double wait) { waits_.push_back(wait); };  // nothing is waited for here
    return ChatClient(std::move(parts), ledger_, memory_);
  }

  std::vector<Json> requests() const {
    std::vector<Json> all;
    for (const std::string& line : split(read_file(folder_.path() / "log").value(), '\n'))
      if (!line.empty()) all.push_back(Json::parse(line));
    return all;
  }

  TempDir folder_;
  std::optional<LineProcess> server_;
  std::string url_;
  Ledger ledger_;
  SharedMemory memory_;
  std::vector<double> waits_;
};

ChatRequest hello() { return {.system = "s", .messages = {{Speaker::user, "hello"}}}; }

TEST_F(Http, BothProtocolsAndOneValueWork) {
  const std::string long_text(5000, 'x');
  play({{{"answer", long_text + "\u00fc"}, {"usage", {11, 7}}},
        {{"answer", "second"}},
        {{"answer", "third"}, {"whole", true}}});
  const auto chat = client().ask(hello());
  ASSERT_TRUE(chat.ok()) << chat.error().message();
  EXPECT_EQ(chat->text, long_text + "\u00fc");
  EXPECT_EQ(chat->tokens.input, 11);
  const auto messages = client("claude-sonnet-4").ask(hello());
  ASSERT_TRUE(messages.ok()) << messages.error().message();
  EXPECT_EQ(messages->text, "second");
  EXPECT_EQ(client("local").ask(hello())->text, "third");
  const auto all = requests();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0]["headers"]["Authorization"], std::string("Bearer ") + kSecret);
  EXPECT_EQ(all[1]["path"], "/v1/messages");
  EXPECT_EQ(all[1]["headers"]["x-api-key"], kSecret);
  EXPECT_EQ(all[1]["headers"]["anthropic-version"], "2023-06-01");
  for (const auto& [key, exchange] : memory_.kept) EXPECT_EQ(exchange.find(kSecret), exchange.npos);
}

TEST_F(Http, TroubleIsWaitedOut) {
  play({{{"status", 429}, {"headers", {{"Retry-After", "3"}}}, {"body", {{"error", {{"message", "slow down"}}}}}},
        {{"status", 500}, {"body", "<html>oops</html>"}},
        {{"answer", "half of what was meant"}, {"break_after", 60}},
        {{"answer", "fine"}}});
  const auto reply = client().ask(hello());
  ASSERT_TRUE(reply.ok()) << reply.error().message();
  EXPECT_EQ(reply->text, "fine");
  ASSERT_EQ(waits_.size(), 3u);
  EXPECT_GE(waits_[0], 3);
  EXPECT_EQ(ledger_.spent().requests, 4);
  EXPECT_GT(ledger_.spent().unsure_usd, 0);
}

TEST_F(Http, AServerThatHangsIsLeft) {
  play({{{"answer", "the beginning and"}, {"hang_after", 50}}, {{"silent", true}}, {{"answer", "fine"}}});
  const double start = now_seconds();
  const auto reply = client("o4-mini", 1).ask(hello());
  ASSERT_TRUE(reply.ok()) << reply.error().message();
  EXPECT_EQ(reply->text, "fine");
  EXPECT_LT(now_seconds() - start, 20) << "two requests of a second each";
  EXPECT_GT(ledger_.spent().unsure_usd, 2 * 16384 * 4.4e-6) << "the silent one may be on the bill, too";
}

// Silence before the first byte is thinking; behind it there is a limit of its own.
TEST_F(Http, SilenceWithinAnAnswerIsNotWaitedOut) {
  play({{{"answer", "the beginning and"}, {"hang_after", 50}}, {{"answer", "fine"}}});
  const double start = now_seconds();
  const auto reply = client("o4-mini", 300, 1).ask(hello());
  ASSERT_TRUE(reply.ok()) << reply.error().message();
  EXPECT_EQ(reply->text, "fine");
  EXPECT_LT(now_seconds() - start, 30) << "a second of 300";
  EXPECT_GT(ledger_.spent().unsure_usd, 0);
}

TEST_F(Http, RefusalsAreToldWithoutTheKey) {
  const auto refusal = [](int status, const std::string& message) {
    return Json{{"status", status}, {"body", {{"error", {{"message", message}}}}}};
  };
  play({refusal(401, std::string("Incorrect API key provided: ") + kSecret),
        refusal(404, "The model `x` does not exist"),
        refusal(400, "This model's maximum context length is 8192 tokens")});
  EXPECT_EQ(client().ask(hello()).error().message(),
            "asking o4-mini: the key is refused: got 401 Incorrect API key provided: [key], wanted a valid key in "
            "$OPENAI_API_KEY or --key-file");
  EXPECT_EQ(
      client().ask(hello()).error().message(),
      "asking o4-mini: the server does not know the model: got 404 The model `x` does not exist, wanted --model and "
      "--base-url that go together");
  EXPECT_EQ(client().ask(hello()).error().message(),
            "asking o4-mini: the prompt is too long for the model: got 400 This model's maximum context length is 8192 "
            "tokens, wanted a model with a longer context");
  EXPECT_EQ(ledger_.spent().usd, 0);
}

TEST_F(Http, NobodyAtHomeIsTold) {
  url_ = "http://127.0.0.1:9/v1";
  ChatClient away = client();
  const Error error = away.ask(hello()).error();
  EXPECT_TRUE(error.wrong.starts_with("no connection to the server (3 attempts in ")) << error.message();
  EXPECT_TRUE(away.ended());
}

TEST_F(Http, GoesThroughAProxy) {
  play({{{"answer", "by proxy"}}});
  setenv("http_proxy", url_.substr(0, url_.size() - 3).c_str(), 1);
  url_ = "http://models.invalid/v1";
  const auto reply = client().ask(hello());
  unsetenv("http_proxy");
  ASSERT_TRUE(reply.ok()) << reply.error().message();
  EXPECT_EQ(reply->text, "by proxy");
  EXPECT_EQ(requests()[0]["path"], "http://models.invalid/v1/chat/completions");
}

TEST_F(Http, SeveralAskAtOnce) {
  play({{{"answer", "fine"}}});
  ChatClient shared = client();
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      ChatRequest request = hello();
      request.messages[0].text += std::to_string(i);
      good += shared.ask(request).ok();
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 8);
  EXPECT_EQ(ledger_.spent().requests, 8);
}

}  // namespace
}  // namespace mtmc
