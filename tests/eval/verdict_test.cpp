#include "eval/verdict.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace mtmc {
namespace {

Verdict example() {
  Verdict v;
  v.tier = Tier::certify, v.outcome = Outcome::certified, v.stage = "timing", v.official = true;
  v.errors = {{"task-0", "0", 1e-7, 2e-7, 1e-6, std::numeric_limits<double>::infinity(), 1e-7, true, ""}};
  v.draws = {"task-0"}, v.accuracy_class = "fp32", v.sandbox = "bubblewrap", v.evaluator = "1";
  v.time_ms = 0.5, v.times["candidate"] = {{0.4, 0.5, 0.6}, 0.5, 0.1}, v.speedup["eager"] = {2.0, 1.5, 2.5};
  return v;
}

TEST(Verdict, JsonRoundTrip) {
  const Json json = to_json(example());
  const auto back = verdict_from_json(json);
  ASSERT_TRUE(back.ok()) << back.error().message();
  EXPECT_EQ(to_json(*back), json);
  EXPECT_TRUE(back->certified());
  EXPECT_EQ(back->errors[0].max_limit, std::numeric_limits<double>::infinity());
}

TEST(Verdict, TheIntervalStandsBesideTheMedianAndTheHeadline) {
  Verdict v = example();
  Json json = to_json(v);
  EXPECT_EQ(json["speedup"]["eager"], 2.0);
  EXPECT_EQ(json["speedup_low"]["eager"], 1.5);
  EXPECT_EQ(json["speedup_high"]["eager"], 2.5);
  EXPECT_EQ(json["headline"]["eager"], 1.5);
  v.speedup["eager"] = {2.0, 0, std::numeric_limits<double>::infinity()};
  json = to_json(v);
  EXPECT_TRUE(json["speedup_high"]["eager"].is_null());
  EXPECT_EQ(to_json(verdict_from_json(json).value()), json);
  EXPECT_EQ(speedup_over(v, "compile"), nullptr);
}

// The store keeps verdicts of earlier versions, for `show` and `report`.
TEST(Verdict, AnOlderOneGetsItsIntervalFromItsSamples) {
  Verdict v = example();
  v.times["eager"] = {{2, 2, 2, 2, 2, 4, 8, 16}, 2, 1}, v.times["candidate"] = {std::vector<double>(8, 1), 1, 0};
  v.speedup["graph"] = exactly(3);
  Json json = to_json(v);
  for (const char* field : {"speedup_low", "speedup_high", "headline"}) json.erase(field);
  const auto back = verdict_from_json(json);
  ASSERT_TRUE(back.ok()) << back.error().message();
  EXPECT_DOUBLE_EQ(back->speedup.at("eager").low, 2);
  EXPECT_DOUBLE_EQ(back->speedup.at("eager").high, 16);
  EXPECT_EQ(back->speedup.at("graph").low, 3) << "without samples it is taken as it is";
}

TEST(Verdict, NotMeasuredIsAbsent) {
  const Json json = to_json(Verdict{});
  EXPECT_FALSE(json.contains("time_ms"));
  EXPECT_FALSE(json.contains("own_kernel_share"));
  EXPECT_EQ(json.at("certified"), false);
}

TEST(Verdict, BrokenJsonIsAnError) {
  Json json = to_json(example());
  json.erase("reason");
  EXPECT_FALSE(verdict_from_json(json).ok());
  json = to_json(example());
  json["errors"] = "none";
  EXPECT_FALSE(verdict_from_json(json).ok());
}

}  // namespace
}  // namespace mtmc
