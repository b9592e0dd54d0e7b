// How many tasks run beside each other, and which of them have a GPU for themselves.
#include <gmock/gmock.h>

#include "base/cores.h"
#include "workbench/workbench.h"

namespace mtmc {
namespace {

using ::testing::HasSubstr;

TEST(Jobs, AreAsManyAsOneWantsUpToTheProcessors) {
  WorkbenchOptions options;
  options.target = "null";
  const auto cores = static_cast<int64_t>(usable_cores().size());
  for (const std::vector<std::string>& baselines :
       {std::vector<std::string>{}, {"graph"}, {"compile"}, {"compile", "max-autotune"}}) {
    options.baselines = baselines;
    EXPECT_EQ(*jobs_beside(options, cores), static_cast<size_t>(cores)) << "whatever they are compared with";
    EXPECT_EQ(*jobs_beside(options, 0), 1U);
    const auto more = jobs_beside(options, cores + 1);
    ASSERT_FALSE(more.ok());
    EXPECT_THAT(more.error().message(), HasSubstr("tasks run beside each other: too many"));
  }
}

TEST(Jobs, ThatWouldCrowdAGpuHaveItForThemselves) {
  constexpr int64_t kMemory = 64'000'000'000;
  EXPECT_FALSE(needs_all_memory(kMemory / 32, kMemory, 1));
  EXPECT_TRUE(needs_all_memory(kMemory / 32 + 1, kMemory, 1));
  EXPECT_TRUE(needs_all_memory(kMemory / 32, kMemory, 2)) << "each baseline holds it once more";
  EXPECT_FALSE(needs_all_memory(kMemory, 0, 1)) << "there is no GPU";
}

}  // namespace
}  // namespace mtmc
