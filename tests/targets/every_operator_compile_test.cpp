// Every operator as a kernel of its own on the cpu target, against its definition evaluated in double.
#include <gtest/gtest.h>

#include "ops/op.h"
#include "targets/cpu/kernel_printer.h"
#include "targets/cpu_runner.h"
#include "targets/recorded_programs.h"

namespace mtmc {
namespace {

// In parts, each one unit for the compiler: they run beside each other.
constexpr size_t kParts = 4;
class CompileEveryOperator : public ::testing::TestWithParam<size_t> {};
INSTANTIATE_TEST_SUITE_P(CompileParts, CompileEveryOperator, ::testing::Range(size_t{0}, kParts));

TEST_P(CompileEveryOperator, EqualsItsDefinition) {
  const std::vector<Program> all = testing::recorded_programs();
  ASSERT_GT(all.size(), 200u);
  std::vector<Program> programs;
  std::vector<std::vector<std::vector<double>>> leaves;
  for (size_t i = GetParam(); i < all.size(); i += kParts) {
    programs.push_back(all[i]);
    leaves.push_back(testing::random_leaves(all[i], i));
  }
  const auto results = testing::run_on_cpu(programs, leaves);
  for (size_t i = 0; i < programs.size(); ++i) {
    const auto wanted = evaluate(programs[i], leaves[i]);
    ASSERT_TRUE(wanted.ok()) << wanted.error().message();
    for (size_t o = 0; o < wanted->size(); ++o)
      EXPECT_EQ(testing::difference(results[i][o], (*wanted)[o], 4e-6), "")
          << print(programs[i]) << print_cpu_kernel(programs[i], programs[i].kernels[0], Hardware{})->text;
  }
}

}  // namespace
}  // namespace mtmc
