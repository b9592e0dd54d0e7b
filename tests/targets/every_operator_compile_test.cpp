// Every operator as a kernel of its own on the cpu target, against its definition evaluated in double.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/rng.h"
#include "base/text.h"
#include "ops/op.h"
#include "support/source_dir.h"
#include "targets/cpu/kernel_printer.h"
#include "targets/cpu_runner.h"

namespace mtmc {
namespace {

std::vector<Program> recorded_programs() {
  std::vector<Program> programs;
  const std::string text = read_file(source_dir() + "/tests/ops/golden/operators.t").value();
  for (size_t at = 0; at < text.size();) {
    const size_t next = std::min(text.find("\nprogram ", at), text.size() - 1) + 1;
    auto program = parse_program(text.substr(at, next - at));
    MTMC_CHECK(program.ok(), program.error().message());
    programs.push_back(std::move(*program));
    at = next;
  }
  return programs;
}

// Indices and truth values are 0 or 1, which every recorded shape has; whole divisors are 1 or 2.
std::vector<std::vector<double>> random_leaves(const Program& program, uint64_t seed) {
  static const std::set<std::string> kDivisions = {"div_mode", "floor_divide", "fmod", "remainder"};
  const bool divides = kDivisions.count(program.nodes.back().op) > 0;
  Rng rng(seed);
  std::vector<std::vector<double>> leaves;
  for (const Value& value : program.values) {
    if (value.kind == ValueKind::result) continue;
    if (const auto numbers = literal(value)) {
      leaves.push_back(*numbers);
      continue;
    }
    std::vector<double> data(static_cast<size_t>(value.type.elements()));
    for (double& x : data)
      x = is_float(value.type.dtype) ? testing::rounded(rng.uniform() * 3 - 1, value.type.dtype)
                                     : static_cast<double>(rng.below(2) + divides);
    leaves.push_back(std::move(data));
  }
  return leaves;
}

void expect_close(const Program& program, const std::vector<double>& got, const std::vector<double>& wanted) {
  double error = 0, norm = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!std::isfinite(wanted[i])) {
      EXPECT_TRUE(std::isnan(wanted[i]) ? std::isnan(got[i]) : got[i] == wanted[i])
          << print(program) << "element " << i << ": " << got[i] << " instead of " << wanted[i];
      continue;
    }
    error += (got[i] - wanted[i]) * (got[i] - wanted[i]);
    norm += wanted[i] * wanted[i];
  }
  EXPECT_LE(std::sqrt(error), 4e-6 * std::sqrt(norm) + 1e-6)
      << print(program) << print_cpu_kernel(program, program.kernels[0], Hardware{})->text;
}

TEST(CompileEveryOperator, EqualsItsDefinition) {
  const std::vector<Program> programs = recorded_programs();
  ASSERT_GT(programs.size(), 200u);
  std::vector<std::vector<std::vector<double>>> leaves;
  for (const Program& program : programs) leaves.push_back(random_leaves(program, leaves.size()));
  const auto results = testing::run_on_cpu(programs, leaves);
  for (size_t i = 0; i < programs.size(); ++i) {
    const auto wanted = evaluate(programs[i], leaves[i]);
    ASSERT_TRUE(wanted.ok()) << wanted.error().message();
    for (size_t o = 0; o < wanted->size(); ++o) expect_close(programs[i], results[i][o], (*wanted)[o]);
  }
}

}  // namespace
}  // namespace mtmc
