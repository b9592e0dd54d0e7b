// How large tiles of rows and columns are, and what else is worth measuring.
#include <algorithm>
#include <tuple>

#include "targets/triton/depths.h"
#include "targets/triton/rows_plan.h"

namespace mtmc::triton {
namespace {

// Elements of a row that stay in registers: as many as leave room for a second program on the multiprocessor, and the
// most, with all its registers.
constexpr int64_t kResident = 16384, kLargestResident = 32768;
// Elements of a running product at a time: of 32,768 a thread spills some, and the multiprocessor has no other program
// that reads while they are multiplied.
constexpr int64_t kMultiplied = 4096;

// A lane that walks a window or partial results keeps many loads in flight: few lanes a program are enough.
bool walks(const RowsPlan& plan) {
  return std::any_of(plan.sequential.begin(), plan.sequential.end(), [](bool s) { return s; });
}

}  // namespace

Numbers default_numbers(const RowsPlan& plan, const Hardware& hardware) {
  const int64_t few = hardware.cores / 2, enough = 2 * hardware.cores;  // programs
  int64_t rows = 1, block = 1;
  const int64_t lanes = walks(plan) ? 256 : 1024;
  if (plan.columns.empty()) {
    rows = std::min<int64_t>(lanes, power_of_two(plan.row_count));
    while (rows > 32 && blocks(plan.row_count, rows) < enough) rows /= 2;
  } else if (plan.flat_columns) {
    if (plan.transposes || plan.rows.size() == 1) {
      // Where lanes walk windows to copy them, long rows of pixels: their windows overlap, and the first-level cache
      // has what another lane has read.
      rows = std::min(plan.windows_to_copy ? 4 * kTransposed : kTransposed, power_of_two(plan.row_count));
      block = std::min({kTransposed * kTransposed / rows, kTransposed, power_of_two(plan.column_count)});
    } else {
      block = std::min<int64_t>(lanes, power_of_two(plan.column_count));
      rows = std::min(power_of_two(plan.row_count), lanes / block);
    }
  } else if (plan.contiguous_rows) {
    rows = 128;
    while (rows > 32 && plan.apart_count * blocks(plan.row_count, rows) < enough) rows /= 2;
    while (rows > 4 && plan.apart_count * blocks(plan.row_count, rows) < few) rows /= 2;
    rows = std::min(rows, power_of_two(plan.row_count));
    block = std::min<int64_t>(power_of_two(plan.column_count), 4096 / rows);
  } else {
    block = power_of_two(plan.column_count);
    // Of few rows, as much as fits is read at a time: nothing else hides how long that takes.
    if (block > kLargestResident) block = plan.row_count < few ? kLargestResident : 4096;
    if (plan.in_turn) block = std::min(block, kMultiplied);
    rows = std::clamp<int64_t>(2048 / block, 1, power_of_two(plan.row_count));
    while (rows > 1 && blocks(plan.row_count, rows) < enough) rows /= 2;
  }
  const int64_t warps = std::clamp<int64_t>(rows * block / 512, 1, block > kResident ? 32 : 16);
  return {{"rows", rows},
          {"block", block},
          {"warps", std::max<int64_t>(power_of_two(warps), rows * block >= lanes ? 4 : 1)}};
}

std::vector<Numbers> copy_candidates(const Group& group, const Frame& frame) {
  const RowsPlan plan = plan_rows(group, frame);
  std::vector<Numbers> all;
  if (!plan.flat_columns || !plan.windows_to_copy) return all;
  for (const auto& [rows, block, warps] : {std::tuple{128, 32, 8}, {64, 32, 4}})
    all.push_back({{"rows", std::min<int64_t>(rows, power_of_two(plan.row_count))},
                   {"block", std::min<int64_t>(block, power_of_two(plan.column_count))},
                   {"warps", warps}});
  return all;
}

std::vector<Numbers> rows_candidates(const Group& group, const Frame& frame, const Hardware& hardware) {
  const RowsPlan plan = plan_rows(group, frame);
  const Numbers base = default_numbers(plan, hardware);
  std::vector<Numbers> all = {base};
  const auto add = [&](int64_t rows, int64_t block, int64_t warps) {
    Numbers one = {{"rows", std::clamp<int64_t>(rows, 1, power_of_two(plan.row_count))},
                   {"block", std::clamp<int64_t>(block, 1, power_of_two(plan.column_count))},
                   {"warps", std::clamp<int64_t>(warps, 1, 32)}};
    // More elements do not fit into registers, and take the compiler minutes.
    if (one.at("rows") * one.at("block") > kLargestResident) return;
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(std::move(one));
  };
  const int64_t rows = base.at("rows"), block = base.at("block"), warps = base.at("warps");
  if (plan.flat_columns && walks(plan))
    for (const int64_t lanes : {128, 256})
      if (plan.row_count * plan.column_count >= lanes)
        all.push_back({{"flat", 1}, {"rows", lanes}, {"warps", lanes / 32}});
  const bool loops = !plan.columns.empty() && !plan.flat_columns && !plan.contiguous_rows && block < plan.column_count;
  if (loops) {
    add(1, kLargestResident, 32);
    add(1, kResident, 32);
  }
  add(rows, block, 2 * warps);
  add(rows, block, std::max<int64_t>(warps / 2, 1));
  if (block > kResident) {
    add(rows, 8192, 16);
    add(rows, 4096, 8);
    return all;
  }
  add(2 * rows, block, warps);
  add(rows / 2, block, warps);
  if (plan.flat_columns) add(rows / 4, block, warps);
  if (!plan.columns.empty() && !plan.flat_columns) {
    add(rows, block / 2, warps);
    add(rows, 2048, 8);
    add(rows, 2 * block, 2 * warps);
  }
  return all;
}

std::vector<Numbers> rows_depths(const Group& group, const Frame& frame, const Numbers& now, const Hardware& hardware) {
  const RowsPlan plan = plan_rows(group, frame, now.count("flat") > 0);
  Numbers chosen = default_numbers(plan, hardware);
  for (const auto& [key, value] : now) chosen[key] = value;
  if (plan.flat_columns || plan.columns.empty() || chosen.at("block") >= plan.column_count) return {};
  return other_depths(now, 1, 4 * chosen.at("rows") * chosen.at("block"), hardware);
}

}  // namespace mtmc::triton
