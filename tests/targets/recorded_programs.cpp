#include "targets/recorded_programs.h"

#include <cmath>
#include <set>

#include "base/check.h"
#include "base/file.h"
#include "base/rng.h"
#include "ops/op.h"
#include "support/source_dir.h"
#include "targets/cpu_runner.h"

namespace mtmc::testing {

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
      x = is_float(value.type.dtype) ? rounded(rng.uniform() * 3 - 1, value.type.dtype)
                                     : static_cast<double>(rng.below(2) + divides);
    leaves.push_back(std::move(data));
  }
  return leaves;
}

std::string difference(const std::vector<double>& got, const std::vector<double>& wanted, double tolerance) {
  if (got.size() != wanted.size())
    return std::to_string(got.size()) + " elements instead of " + std::to_string(wanted.size());
  double error = 0, norm = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!std::isfinite(wanted[i])) {
      if (std::isnan(wanted[i]) ? !std::isnan(got[i]) : got[i] != wanted[i])
        return "element " + std::to_string(i) + ": " + std::to_string(got[i]) + " instead of " +
               std::to_string(wanted[i]);
      continue;
    }
    error += (got[i] - wanted[i]) * (got[i] - wanted[i]);
    norm += wanted[i] * wanted[i];
  }
  if (std::sqrt(error) <= tolerance * std::sqrt(norm) + tolerance / 4) return "";
  return "relative error " + std::to_string(std::sqrt(error / norm)) + ", norm " + std::to_string(std::sqrt(norm));
}

}  // namespace mtmc::testing
