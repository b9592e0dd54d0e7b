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
  v.time_ms = 0.5, v.times["candidate"] = {{0.4, 0.5, 0.6}, 0.5, 0.1}, v.speedup["eager"] = 2.0;
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
