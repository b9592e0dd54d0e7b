// Hardware facts as JSON: those of GPUs are written only where they say something, and may be missing in older files.
#include "ir/hardware.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

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

}  // namespace
}  // namespace mtmc
