// Every operator as a kernel of its own on the cpu target, against its definition evaluated in double.
#include <gtest/gtest.h>

#include "ops/op.h"
#include "targets/cpu/kernel_printer.h"
#include "targets/cpu_runner.h"
#include "targets/recorded_programs.h"

namespace mtmc {
namespace {

TEST(CompileEveryOperator, EqualsItsDefinition) {
  const std::vector<Program> programs = testing::recorded_programs();
  ASSERT_GT(programs.size(), 200u);
  std::vector<std::vector<std::vector<double>>> leaves;
  for (const Program& program : programs) leaves.push_back(testing::random_leaves(program, leaves.size()));
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
