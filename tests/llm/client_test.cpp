// Patience, limits, memory and secrecy of the client, on a transport that plays a server.
#include "llm/client.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <deque>
#include <future>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/file.h"
#include "base/tempdir.h"

namespace mtmc {
namespace {

using Failure = HttpResponse::Failure;

constexpr const char* kKey = "sk-test-0123456789";
constexpr const char* kAnswer =
    "data: {\"choices\":[{\"delta\":{\"content\":\"fine\"},\"finish_reason\":\"stop\"}],"
    "\"usage\":{\"prompt_tokens\":1000,\"completion_tokens\":100}}\n\ndata: [DONE]\n\n";

struct MapMemory final : ExchangeMemory {
  Result<std::optional<std::string>> recall(const std::string& key) override {
    const auto at = kept.find(key);
    return at == kept.end() ? std::nullopt : std::optional(at->second);
  }
  Status remember(const std::string& key, const std::string& value) override {
    kept[key] = value;
    return ok_status();
  }
  std::map<std::string, std::string> kept;
};

// What a server does, one entry a request; the last one stays.
struct Played {
  HttpResponse response;
  std::string pieces = {};
};
Played answer(std::string text = kAnswer) { return {{.status = 200}, std::move(text)}; }
Played status(long code, std::string body = "", std::optional<double> wait = {}) {
  return {{.status = code, .retry_after = wait, .body = std::move(body)}};
}
Played failure(Failure how) { return {{.failure = how, .detail = "as played"}}; }

struct Server {
  std::deque<Played> plays;
  std::vector<HttpRequest> asked;
  std::vector<double> waits;
  double now = 0;
  MapMemory memory;
  Ledger ledger;

  explicit Server(std::deque<Played> what, std::optional<double> most = {}) : plays(std::move(what)), ledger(most) {}
  ChatClient client() {
    ClientParts parts{.model = find_model("o4-mini", "", "/nowhere").value(), .key = Key::of(kKey, "test").value()};
    parts.transport = [this](const HttpRequest& request, const std::function<void(std::string_view)>& on_piece) {
      asked.push_back(request);
      const Played play = plays.front();
      if (plays.size() > 1) plays.pop_front();
      on_piece(play.pieces);
      return play.response;
    };
    parts.wait = [this](double seconds) { waits.push_back(seconds), now += seconds; };
    parts.clock = [this] { return now; };
    return ChatClient(std::move(parts), ledger, memory);
  }
};

ChatRequest question(const char* text = "q") { return {.system = "", .messages = {{Speaker::user, text}}}; }

TEST(Client, AsksOnceAndRemembers) {
  Server server({answer()});
  ChatClient client = server.client();
  const auto first = client.ask(question());
  ASSERT_TRUE(first.ok()) << first.error().message();
  EXPECT_EQ(first->text, "fine");
  EXPECT_NEAR(first->usd, 1000 * 1.1e-6 + 100 * 4.4e-6, 1e-12);
  const auto again = client.ask(question());
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->remembered);
  EXPECT_EQ(again->text, "fine");
  EXPECT_EQ(server.asked.size(), 1u);
  EXPECT_TRUE(client.ask(question("another")).ok());
  EXPECT_EQ(server.asked.size(), 2u);
  const Spent spent = server.ledger.spent();
  EXPECT_EQ(spent.requests, 2);
  EXPECT_EQ(spent.remembered, 1);
  EXPECT_EQ(describe(spent), "2 requests (1 more answered by the store), 2000 + 200 tokens, $0.0031");
  EXPECT_EQ(to_json(spent_from_json(to_json(spent))), to_json(spent));
}

TEST(Client, WaitsLongerEachTimeAndAsLongAsItIsAsked) {
  Server server(
      {status(500), status(429, "", 7.0), failure(Failure::broken), answer("data: {\"choices\":[]}\n\n"), answer()});
  ChatClient client = server.client();
  const auto reply = client.ask(question());
  ASSERT_TRUE(reply.ok()) << reply.error().message();
  ASSERT_EQ(server.waits.size(), 4u);
  EXPECT_GE(server.waits[0], 0.5);
  EXPECT_LE(server.waits[0], 1);
  EXPECT_GE(server.waits[1], 7);
  EXPECT_LE(server.waits[1], 7.7) << "as long as it is asked, and a little longer by chance";
  EXPECT_GE(server.waits[2], 2);
  EXPECT_LE(server.waits[2], 4);
  EXPECT_GE(server.waits[3], 4);
  EXPECT_FALSE(client.ended());
  const Spent spent = server.ledger.spent();
  EXPECT_EQ(spent.requests, 5);
  EXPECT_GT(spent.unsure_usd, 0) << "a stream that broke off may be on the bill";
}

TEST(Client, GivesUpInTimeAndForGoodTheSecondTime) {
  Server server({failure(Failure::timed_out)});
  ChatClient client = server.client();
  const auto first = client.ask(question("1"));
  ASSERT_FALSE(first.ok());
  EXPECT_TRUE(first.error().wrong.starts_with("the server did not answer in time (6 attempts in "))
      << first.error().message();
  EXPECT_FALSE(client.ended());
  EXPECT_FALSE(client.ask(question("2")).ok());
  EXPECT_TRUE(client.ended());
  const size_t asked = server.asked.size();
  EXPECT_FALSE(client.ask(question("3")).ok());
  EXPECT_EQ(server.asked.size(), asked) << "nobody is asked any more";
  Server busy({status(429, "", 10000.0)});
  EXPECT_FALSE(busy.client().ask(question()).ok());
  EXPECT_EQ(busy.waits.size(), 0u) << "no wait beyond the limit of a question";
}

TEST(Client, EndsAtOnceWhereNothingCanHelp) {
  const std::map<std::string, Played> all = {{"the key is refused", status(401, R"({"error":{"message":"no"}})")},
                                             {"the server does not know the model", status(404)},
                                             {"the account has no money left", status(402)}};
  for (const auto& [wrong, play] : all) {
    Server server({play});
    ChatClient client = server.client();
    EXPECT_EQ(client.ask(question()).error().wrong, wrong);
    EXPECT_EQ(server.asked.size(), 1u);
    ASSERT_TRUE(client.ended());
    EXPECT_EQ(client.ended()->wrong, wrong);
  }
  Server away({failure(Failure::unreachable)});
  ChatClient client = away.client();
  EXPECT_FALSE(client.ask(question()).ok());
  EXPECT_EQ(away.asked.size(), 3u);
  EXPECT_TRUE(client.ended());
}

TEST(Client, ARefusedPromptEndsNothing) {
  Server server({status(400, R"({"error":{"message":"maximum context length is 8192"}})"), answer()});
  ChatClient client = server.client();
  EXPECT_EQ(client.ask(question("long")).error().wrong, "the prompt is too long for the model");
  EXPECT_TRUE(client.ask(question("short")).ok());
}

TEST(Client, TwoRefusalsInARowThatNobodyKnowsEndIt) {
  const Played no = status(400, R"({"error":{"message":"unsupported parameter"}})");
  Server server({no, answer(), no, no});
  ChatClient client = server.client();
  EXPECT_EQ(client.ask(question("1")).error().wrong, "the server refuses the request");
  EXPECT_TRUE(client.ask(question("2")).ok());
  EXPECT_FALSE(client.ask(question("3")).ok());
  EXPECT_FALSE(client.ended()) << "there was an answer between them";
  EXPECT_FALSE(client.ask(question("4")).ok());
  EXPECT_TRUE(client.ended());
  EXPECT_EQ(server.waits.size(), 0u) << "asking again would not help";
}

TEST(Client, ARefusalsOwnWordsSayHowLongToWait) {
  Server server({status(429, R"({"error":{"message":"Please retry in 40s."}})"), answer()});
  EXPECT_TRUE(server.client().ask(question()).ok());
  ASSERT_EQ(server.waits.size(), 1u);
  EXPECT_GE(server.waits[0], 40);
}

// What a server was sent and did not refuse may be on the bill, whether a byte came back or not.
TEST(Client, WhatMayBeOnTheBillIsBooked) {
  for (const Failure how : {Failure::timed_out, Failure::idle, Failure::broken}) {
    Server server({failure(how)});
    EXPECT_FALSE(server.client().ask(question()).ok());
    const Spent spent = server.ledger.spent();
    EXPECT_GE(spent.usd, 6 * 16384 * 4.4e-6);
    EXPECT_EQ(spent.usd, spent.unsure_usd);
  }
  for (const Played& play : {failure(Failure::unreachable), status(500), status(400)}) {
    Server server({play});
    EXPECT_FALSE(server.client().ask(question()).ok());
    EXPECT_EQ(server.ledger.spent().usd, 0);
  }
}

TEST(Client, TheLimitThatEndedItIsTold) {
  Server late({failure(Failure::timed_out)}), silent({failure(Failure::idle)});
  EXPECT_EQ(late.client().ask(question()).error().got, "nothing within 300 s");
  EXPECT_EQ(late.asked[0].idle_seconds, 120);
  EXPECT_EQ(silent.client().ask(question()).error().got, "nothing more for 120 s");
}

TEST(Client, NoQuestionLastsLongerThanWhoeverAsksHasTime) {
  ChatRequest asked = question();
  Server server({failure(Failure::timed_out)});
  asked.seconds_left = [&] { return 5 - server.now; };
  ChatClient client = server.client();
  const Error error = client.ask(asked).error();
  EXPECT_EQ(server.asked[0].total_seconds, 5);
  EXPECT_EQ(error.wanted, "a faster server, or a longer --time");
  EXPECT_LT(server.now, 5);
  server.now = 4.5;
  const size_t before = server.asked.size();
  for (const char* text : {"2", "3", "4"}) {
    asked.messages[0].text = text;
    EXPECT_EQ(client.ask(asked).error().wrong, "there is no time left for it");
  }
  EXPECT_EQ(server.asked.size(), before);
  EXPECT_FALSE(client.ended()) << "the next one may have more";
}

TEST(Client, StopsBeforeTheRequestThatCouldPassTheLimit) {
  Server server({answer()}, 0.0735);  // 16384 tokens of an answer cost up to $0.0721
  ChatClient client = server.client();
  EXPECT_TRUE(client.ask(question("1")).ok());
  const auto second = client.ask(question("2"));
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().wrong, "this request could pass the cost limit");
  EXPECT_EQ(server.asked.size(), 1u);
  EXPECT_LE(server.ledger.spent().usd, 0.0735);
  EXPECT_TRUE(client.ended());
  EXPECT_TRUE(client.ask(question("1")).ok()) << "what is remembered is free";
}

TEST(Client, TheKeyIsInTheHeaderAndNowhereElse) {
  const std::string echo = R"({"error":{"message":"Incorrect API key provided: )" + std::string(kKey) + R"("}})";
  Server server({status(500, echo), status(400, echo)});
  ChatClient client = server.client();
  const auto refused = client.ask(question((std::string("a candidate printed ") + kKey).c_str()));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("[key]"), std::string::npos) << refused.error().message();
  EXPECT_EQ(refused.error().message().find(kKey), std::string::npos);
  for (const HttpRequest& request : server.asked) {
    EXPECT_EQ(request.body.find(kKey), std::string::npos);
    EXPECT_EQ(request.url.find(kKey), std::string::npos);
    EXPECT_EQ(request.headers.back(), std::string("Authorization: Bearer ") + kKey);
  }
  std::string said = kAnswer;
  said.replace(said.find("fine"), 4, kKey);
  Server parrot({answer(said)});
  EXPECT_EQ(parrot.client().ask(question())->text, "[key]");
  for (const auto& [hash, exchange] : parrot.memory.kept) EXPECT_EQ(exchange.find(kKey), exchange.npos);
}

TEST(Key, IsTakenOutOfTheEnvironment) {
  const ModelFacts model = find_model("o4-mini", "", "/nowhere").value();
  unsetenv("OPENAI_API_KEY");
  EXPECT_EQ(Key::find(model, "", {}).error().message(),
            "reading the key of the language model: o4-mini needs one: wanted $OPENAI_API_KEY, or --key-file FILE");
  setenv("OPENAI_API_KEY", kKey, 1);
  EXPECT_EQ(Key::find(model, "", Keys::take("/nowhere"))->header(Protocol::messages),
            std::string("x-api-key: ") + kKey);
  EXPECT_EQ(std::getenv("OPENAI_API_KEY"), nullptr);
  TempDir dir;
  const auto file = dir.path() / "key";
  ASSERT_TRUE(write_file(file, std::string(kKey) + "\nmore\n").ok());
  EXPECT_EQ(Key::find(model, file.string(), {})->scrub(std::string("my ") + kKey), "my [key]");
  ASSERT_TRUE(write_file(file, "two words of a key").ok());
  const std::string message = Key::find(model, file.string(), {}).error().message();
  EXPECT_EQ(message.find("two words"), message.npos) << message;
  EXPECT_TRUE(Key::find(find_model("local", "http://localhost/v1", "/nowhere").value(), "", {})->empty());
}

TEST(Key, IsShownToChildrenWhoAskThemselves) {
  setenv("OPENAI_API_KEY", kKey, 1);
  const Keys keys = Keys::take("/nowhere");
  keys.show();
  const char* shown = std::getenv("OPENAI_API_KEY");
  EXPECT_STREQ(shown, kKey);
  keys.hide();
  EXPECT_EQ(std::getenv("OPENAI_API_KEY"), nullptr);
}

TEST(Ledger, ReservationsOfSeveralThreadsCountTogether) {
  Ledger ledger(1.0);
  ASSERT_TRUE(ledger.reserve(0.6).ok());
  EXPECT_FALSE(ledger.reserve(1.1).ok()) << "whatever the other one will cost";
  auto other = std::async(std::launch::async, [&] { return ledger.reserve(0.6).ok(); });
  EXPECT_NE(other.wait_for(std::chrono::milliseconds(50)), std::future_status::ready) << "the first may cost less";
  ASSERT_TRUE(ledger.settle(0.6, {10, 20}, 0.1, true).ok());
  EXPECT_TRUE(other.get());
  auto third = std::async(std::launch::async, [&] { return ledger.reserve(0.6).ok(); });
  ASSERT_TRUE(ledger.settle(0.6, {10, 20}, 0.5, true).ok());
  EXPECT_FALSE(third.get()) << "nothing is under way that could leave more";
  ledger.give_back(ledger.reserve(0.4).ok() ? std::optional(0.4) : std::nullopt);
  EXPECT_EQ(ledger.spent().requests, 2) << "what was not sent is none";
  EXPECT_DOUBLE_EQ(ledger.spent().usd, 0.6);
}

TEST(Ledger, BooksAreKeptBeforeAndAfterEachRequest) {
  Ledger ledger(3.0);
  std::vector<std::pair<double, double>> books;
  ledger.book_by([&] {
    books.emplace_back(ledger.spent().usd, ledger.spent().unsure_usd);
    return ok_status();
  });
  ledger.spent_before(2);
  ASSERT_TRUE(ledger.reserve(0.5).ok());
  ASSERT_TRUE(ledger.settle(0.5, {10, 20}, 0.25, true).ok());
  EXPECT_EQ(books, (std::vector<std::pair<double, double>>{{0.5, 0.5}, {0.25, 0}}));
  EXPECT_FALSE(ledger.reserve(0.8).ok()) << "with what was spent before it would be too much";
  ledger.book_by([] { return Status(Error{"writing", "the disk is full", "", ""}); });
  EXPECT_FALSE(ledger.reserve(0.1).ok());
}

TEST(Ledger, SaysWhereThePriceIsUnknown) {
  Ledger ledger;
  ASSERT_TRUE(ledger.reserve({}).ok());
  ASSERT_TRUE(ledger.settle(0, {10, 20}, 0, true).ok());
  EXPECT_EQ(describe(ledger.spent()), "1 requests, 10 + 20 tokens, price unknown");
  ASSERT_TRUE(ledger.reserve(0.5).ok());
  ASSERT_TRUE(ledger.settle(0.5, {1, 2}, 0.25, true).ok());
  EXPECT_EQ(describe(ledger.spent()), "2 requests, 11 + 22 tokens, $0.2500 and 1 requests whose price is unknown");
  EXPECT_EQ(to_json(spent_from_json(to_json(ledger.spent()))), to_json(ledger.spent()));
  Json old = to_json(Spent{.requests = 2});
  old.erase("unpriced");
  EXPECT_EQ(spent_from_json(old).requests, 2) << "as it was kept before";
}

}  // namespace
}  // namespace mtmc
