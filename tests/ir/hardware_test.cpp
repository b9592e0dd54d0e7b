// Hardware facts as JSON: those of GPUs are written only where they say something, and may be missing in older files.
#include "ir/hardware.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/tempdir.h"
#include "ir/hardware_cache.h"

namespace mtmc {
namespace {

TEST(Hardware, facts_of_a_gpu_come_back) {
  const Hardware h200 = h200_hardware();
  EXPECT_GT(h200.flops_f16, h200.flops_tf32);
  EXPECT_EQ(h200.target, "triton");
  const auto back = hardware_from_json(to_json(h200));
  ASSERT_TRUE(back.ok()) << back.error().message();
  EXPECT_EQ(*back, h200);
}

TEST(Hardware, facts_without_a_gpu_are_what_they_were) {
  const Json json = to_json(null_hardware());
  EXPECT_FALSE(json.contains("flops_f16"));
  const auto back = hardware_from_json(json);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(*back, null_hardware());
}

TEST(Hardware, a_missing_fact_is_an_error) {
  Json json = to_json(null_hardware());
  json.erase("bandwidth");
  EXPECT_FALSE(hardware_from_json(json).ok());
}

TEST(Hardware, a_machine_without_cores_is_an_error) {
  Json json = to_json(null_hardware());
  json["cores"] = 0;
  EXPECT_EQ(hardware_from_json(json).error().message(),
            "reading hardware facts: it has no cores: got 0, wanted 1 or more");
}

// Rates are kept for an hour; then the better ones count, since others may have used the machine before.
TEST(Hardware, a_processor_is_measured_again_when_it_was_long_ago) {
  const TempDir cache;
  const char* before = std::getenv("XDG_CACHE_HOME");
  const std::string was = before != nullptr ? before : "";
  setenv("XDG_CACHE_HOME", cache.path().c_str(), 1);
  const Hardware first = detect_cpu();
  Hardware slow = first;
  slow.bandwidth = slow.flops_f32 = 1e6, slow.cache_bandwidth = 1e18;
  keep_hardware("cpu", first.name, slow);
  EXPECT_EQ(detect_cpu(), slow);
  for (const auto& file : std::filesystem::directory_iterator(cache.path() / "mtmc"))
    std::filesystem::last_write_time(file.path(),
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
  const Hardware again = detect_cpu();
  EXPECT_GT(again.bandwidth, 1e7);
  EXPECT_GT(again.flops_f32, 1e7);
  EXPECT_EQ(again.cache_bandwidth, 1e18) << "nothing is slower than it was seen to be";
  EXPECT_EQ(detect_cpu(), again);
  if (was.empty())
    unsetenv("XDG_CACHE_HOME");
  else
    setenv("XDG_CACHE_HOME", was.c_str(), 1);
}

}  // namespace
}  // namespace mtmc
