#include "targets/cpu/tile_plan.h"

#include <algorithm>
#include <set>

#include "targets/cpu/kernel_printer.h"
#include "targets/cpu/loop_nest.h"

namespace mtmc {
namespace {

bool on_side(const std::vector<int>& side, int a) { return std::find(side.begin(), side.end(), a) != side.end(); }

// The contraction that dominates a frame, or -1.
int main_contraction(const Group& group, const Frame& frame) {
  int best = -1;
  int64_t most = 0;
  for (int s = frame.first; s <= frame.last; ++s) {
    if (!group.stages[s].contraction) continue;
    const int64_t work = product(group.stages[s].stage.extents());
    if (work > most) most = work, best = s;
  }
  return best;
}

int64_t round_up(int64_t x, int64_t to) { return (x + to - 1) / to * to; }

// Splits `extent` into equal tiles no longer than `wanted`, in multiples of `step`.
int64_t even_tile(int64_t extent, int64_t wanted, int64_t step) {
  if (extent <= wanted) return extent;
  const int64_t tiles = (extent + wanted - 1) / wanted;
  return std::min(extent, round_up((extent + tiles - 1) / tiles, step));
}

void contraction_tiles(const Group& group, const Frame& frame, int main, const Hardware& hardware,
                       std::map<std::string, int64_t>& numbers) {
  const GroupStage& stage = group.stages[main];
  const auto product_plan = plan_product(whole_plan(group, main));
  int64_t cols_left = 256;
  for (int p = static_cast<int>(frame.shared.size()); p-- > 0;) {
    const std::string key = "tile" + std::to_string(p);
    const int a = frame.axis_of(p, main);
    const int64_t extent = frame.shared[p].extent;
    int64_t tile = 1;
    if (a >= 0 && product_plan && on_side(product_plan->cols, a)) {
      tile = even_tile(extent, std::max<int64_t>(1, cols_left), a == product_plan->cols.back() ? 32 : 1);
      cols_left = tile == extent ? cols_left / std::max<int64_t>(1, extent) : 1;
    } else if (a >= 0 && product_plan && a == product_plan->row) {
      tile = even_tile(extent, 252, 12);
    }
    numbers[key] = tile;
  }
  // Leave work for every core.
  const auto tiles = [&] {
    int64_t count = 1;
    for (size_t p = 0; p < frame.shared.size(); ++p)
      count *= (frame.shared[p].extent + numbers["tile" + std::to_string(p)] - 1) / numbers["tile" + std::to_string(p)];
    return count;
  };
  for (size_t p = 0; p < frame.shared.size() && tiles() < 2 * hardware.cores; ++p) {
    int64_t& tile = numbers["tile" + std::to_string(p)];
    while (tile > 24 && tiles() < 2 * hardware.cores) tile = round_up(tile / 2, 12);
  }
  const int64_t depth = product(stage.stage.extents(), stage.contraction->k);
  // The packed columns of one K block take at most half the second-level cache.
  int64_t width = 1;
  if (product_plan)
    for (int a : product_plan->cols) {
      const int p = frame.shared_of(main, a);
      width *= p >= 0 ? numbers["tile" + std::to_string(p)] : stage.stage.extents()[a];
    }
  const int64_t fits = hardware.l2_bytes / 2 / (4 * width) / 32 * 32;
  numbers["depth"] = std::min<int64_t>(depth, std::clamp<int64_t>(fits, 32, 256));
}

}  // namespace

StagePlan whole_plan(const Group& group, int stage) {
  StagePlan plan;
  plan.group = &group;
  plan.stage = &group.stages[stage];
  for (int64_t extent : plan.stage->stage.extents()) {
    const std::string name = "i" + std::to_string(plan.loops.size());
    plan.loops.push_back({name, "0", std::to_string(extent), extent, extent, false});
  }
  return plan;
}

std::optional<BlockedProduct> plan_product(const StagePlan& plan) {
  const Contraction& c = *plan.stage->contraction;
  const Stage& stage = plan.stage->stage;
  const auto own = plan.strides.find(plan.stage->dest);
  const std::vector<int64_t>& strides =
      own != plan.strides.end() ? own->second : plan.group->tensors[plan.stage->dest].strides;
  const auto loops_over = [&](int a) { return !plan.loops[a].fixed && plan.loops[a].length > 1; };
  BlockedProduct result;
  int unit = -1;
  for (int a = 0; a < stage.rank(); ++a)
    if (loops_over(a) && strides[a] == 1 && (on_side(c.m, a) || on_side(c.n, a))) unit = a;
  if (unit < 0) return std::nullopt;
  result.cols_on_right = on_side(c.n, unit);
  const std::vector<int>& vector_side = result.cols_on_right ? c.n : c.m;
  const std::vector<int>& row_side = result.cols_on_right ? c.m : c.n;
  result.cols = {unit};
  // Neighbouring axes join the columns when the tile holds all of the inner ones.
  int64_t width = plan.loops[unit].length;
  bool whole = plan.loops[unit].length == plan.loops[unit].extent;
  for (int a = unit - 1; a >= 0 && whole; --a) {
    if (!on_side(vector_side, a) || !loops_over(a) || strides[a] != width) break;
    result.cols.insert(result.cols.begin(), a);
    width *= plan.loops[a].length;
    whole = plan.loops[a].length == plan.loops[a].extent;
  }
  for (int a : row_side)
    if (loops_over(a) && (result.row < 0 || plan.loops[a].length > plan.loops[result.row].length)) result.row = a;
  for (int a = 0; a < stage.rank(); ++a)
    if (loops_over(a) && a != result.row && !on_side(result.cols, a)) result.outer.push_back(a);
  return result;
}

double frame_work(const Group& group, const Frame& frame) {
  double work = 0;
  for (int s = frame.first; s <= frame.last; ++s)
    work += static_cast<double>(product(group.stages[s].stage.extents())) *
            (1 + operation_count(group.stages[s].stage.body));
  return work;
}

int main_frame(const Group& group, const std::vector<Frame>& frames) {
  int best = 0;
  for (size_t f = 1; f < frames.size(); ++f)
    if (frame_work(group, frames[f]) > frame_work(group, frames[best])) best = static_cast<int>(f);
  return best;
}

std::map<std::string, int64_t> default_numbers(const Group& group, const Frame& frame, const Kernel& kernel,
                                               const Hardware& hardware) {
  std::map<std::string, int64_t> numbers;
  const int contraction = main_contraction(group, frame);
  if (contraction >= 0 && kernel.has("tiled")) {
    contraction_tiles(group, frame, contraction, hardware, numbers);
    return numbers;
  }
  // The axis that the busiest stage wants to vectorise; when it is shared, a tile holds many of its indices.
  int busiest = frame.first;
  for (int s = frame.first; s <= frame.last; ++s)
    if (product(group.stages[s].stage.extents()) >= product(group.stages[busiest].stage.extents())) busiest = s;
  const int vector = choose_vector_axis(whole_plan(group, busiest));
  bool scratch_rows = false;
  for (int s = frame.first; s <= frame.last; ++s)
    scratch_rows |= group.tensors[group.stages[s].dest].role == GroupTensor::Role::scratch;
  for (size_t p = 0; p < frame.shared.size(); ++p) {
    int64_t tile = 1;
    if (vector >= 0 && frame.axis_of(static_cast<int>(p), busiest) == vector) {
      const int64_t extent = frame.shared[p].extent;
      tile = scratch_rows ? std::min<int64_t>(extent, 64) : extent;
      if (frame.shared.size() == 1 || kernel.has("tiled"))
        tile = std::min<int64_t>(tile, frame.shared.size() == 1 ? 16384 : 1024);
      if (frame.shared.size() == 1)
        tile = std::min(tile, std::max<int64_t>(16, round_up(extent / (2 * hardware.cores), 16)));
    }
    numbers["tile" + std::to_string(p)] = tile;
  }
  if (kernel.has("pipelined")) numbers["unroll"] = 4, numbers["ahead"] = 1;
  return numbers;
}

std::vector<int64_t> tile_extents(const Group&, const Frame& frame, const Kernel&,
                                  const std::map<std::string, int64_t>& numbers) {
  std::vector<int64_t> tiles;
  for (size_t p = 0; p < frame.shared.size(); ++p) {
    const auto found = numbers.find("tile" + std::to_string(p));
    tiles.push_back(std::clamp<int64_t>(found == numbers.end() ? 1 : found->second, 1, frame.shared[p].extent));
  }
  return tiles;
}

}  // namespace mtmc
