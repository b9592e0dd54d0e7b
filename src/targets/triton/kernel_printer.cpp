#include "targets/triton/kernel_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "ir/kernel_memo.h"
#include "ops/op.h"
#include "targets/triton/assemble.h"
#include "targets/triton/attention_printer.h"
#include "targets/triton/copy_launch.h"
#include "targets/triton/horizontal.h"
#include "targets/triton/prepare.h"
#include "targets/triton/recurrent_printer.h"
#include "targets/triton/window_printer.h"

namespace mtmc {
namespace {

using namespace triton;

constexpr int64_t kLongRow = 16384;  // results of a row that one program cannot hold
constexpr int64_t kMostReads = 32;   // of a result that a launch of whole rows makes for itself

double work_of_stage(const GroupStage& stage) { return static_cast<double>(product(stage.stage.extents())); }

int64_t programs_of(const Frame& frame) {
  int64_t count = 1;
  for (const SharedAxis& axis : frame.shared) count *= axis.extent;
  return count;
}

// The numbers of launches that compute what they copy: "copy_rows" is their "rows". "copy_apart": launches of their own
// compute it.
constexpr std::string_view kOfCopy = "copy_";
// Numbers, too: 1 where reductions behind a product read it again instead of being found in its tiles; whether right
// operands that may be split in the loop are (without it: where they are large).
constexpr const char *kReadsAgain = "reads_again", *kInLoop = "in_loop";
bool is_of_whole_kernel(const std::string& key) { return key == kReadsAgain || key == kInLoop; }
Numbers of_copies(const Numbers& numbers) {
  Numbers result;
  for (const auto& [key, number] : numbers)
    if (key.starts_with(kOfCopy)) result[key.substr(kOfCopy.size())] = number;
  return result;
}

// One kernel of the Program, cut into launches.
class Kernels {
 public:
  // All must outlive it.
  Kernels(const Group& group, const Kernel& kernel, const Hardware& hardware)
      : built_(group), kernel_(kernel), hardware_(hardware) {
    for (const GroupStage& one : group.stages)
      if (product(one.stage.extents()) == 0) throw Unsupported{"tensors without elements"};
    const auto precision = kernel.choices.find("precision");
    const auto arrange = [&](bool attention_in_parts) {
      prepared_ = prepare(group,
                          {.precision = precision == kernel.choices.end() ? "ieee" : precision->second,
                           .split = kernel.has("split"),
                           .im2win = kernel.has("window"),
                           .in_tiles = kernel.number(kReadsAgain, 0) == 0,
                           .attention_in_parts = attention_in_parts,
                           .in_loop = kernel.number(kInLoop, -1),
                           .parts = kernel.number("parts", 0)},
                          hardware);
      frames_.clear(), tried_.clear();
      cut();
    };
    try {
      arrange(true);
    } catch (const Unsupported&) {
      if (!has_attention(collapse_axes(group))) throw;
      arrange(false);  // attention that is not one launch takes its operands as they are
    }
  }

  const Group& group() const { return prepared_.group; }

  std::vector<TritonLaunch> launches(const Numbers& numbers) const {
    std::vector<TritonLaunch> all, result;
    std::map<int, std::vector<TritonLaunch>> guests;  // by their host
    const std::vector<int> hosts = find_hosts(group(), frames_);
    for (size_t f = 0; f < frames_.size(); ++f) {
      Numbers mine = f == main_frame() ? numbers : numbers_of(frames_[f], numbers);
      if (hosts[f] >= 0) mine["warps"] = all[hosts[f]].warps;
      all.push_back(print(frames_[f], name_of(f), mine));
      if (hosts[f] >= 0) guests[hosts[f]].push_back(all[f]);
    }
    for (size_t f = 0; f < frames_.size(); ++f) {
      const auto mine = guests.find(static_cast<int>(f));
      if (hosts[f] < 0) result.push_back(mine == guests.end() ? std::move(all[f]) : fuse(all[f], mine->second));
    }
    return result;
  }

  TritonPasses passes() const {
    TritonPasses result;
    const std::vector<int> hosts = find_hosts(group(), frames_);
    result.launches = static_cast<int>(std::count(hosts.begin(), hosts.end(), -1));
    for (size_t f = 0; f < frames_.size(); ++f) {
      if (group().stages[frames_[f].last].run_if) continue;  // rare
      const Numbers numbers = own_numbers(frames_[f]);
      const TritonLaunch other = numbers.empty() ? TritonLaunch{} : print(frames_[f], name_of(f), numbers);
      const auto& names = numbers.empty() ? guess(frames_[f]).parameters : other.parameters;
      for (const GroupTensor& tensor : group().tensors) {
        const bool used = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
          return name == tensor.name || name == tensor.name + "_tiles";
        });
        if (used && tensor.role == GroupTensor::Role::scratch) result.bytes += bytes_touched(frames_[f], tensor);
      }
    }
    return result;
  }

  // What a launch writes or reads of a scratch tensor: a norm's combination of parts, say, one element of each row.
  double bytes_touched(const Frame& frame, const GroupTensor& tensor) const {
    const int which = static_cast<int>(&tensor - group().tensors.data());
    const double all = static_cast<double>(tensor.type.size_bytes());
    double most = 0;
    for (int s = frame.first; s <= frame.last; ++s) {
      const GroupStage& stage = group().stages[s];
      if (stage.dest == which || stage.peak_tensor == which || stage.contraction) return all;
      const std::vector<int64_t> extents = stage.stage.extents();
      for (const Expr* e : loads_of(stage.stage.body)) {
        if (e->tensor != which) continue;
        double elements = 1;
        for (int a = 0; a < static_cast<int>(extents.size()); ++a)
          if (std::any_of(e->args.begin(), e->args.end(), [&](const ExprP& index) { return uses_axis(index, a); }))
            elements *= static_cast<double>(extents[a]);
        most = std::max(most, elements * static_cast<double>(bytes(e->dtype)));
      }
    }
    return most > 0 ? std::min(most, all) : all;
  }

  // The numbers it has, or the best guess; where the depth of its pipeline is measured, other depths of these; where
  // its tiles are, other tiles.
  std::vector<Numbers> candidates() const {
    std::vector<Numbers> others = tiles(), all = {kernel_.numbers.empty() ? others.front() : kernel_.numbers};
    const auto add = [&](const std::vector<Numbers>& more) {
      for (Numbers one : more) {
        for (const auto& number : all.front())  // the other products stay as they are
          if (number.first.starts_with("of") || is_of_whole_kernel(number.first)) one.insert(number);
        if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(std::move(one));
      }
    };
    if (kernel_.has("pipelined")) add(depths(all.front()));
    if (kernel_.has("tiled")) add(others), add(tiles_of_others(all.front()));
    return all;
  }

 private:
  bool is_product(const Frame& frame) const {
    const auto attention = find_attention(group(), frame.first);
    return is_contraction(group(), frame) && !(attention && attention->last == frame.last);
  }

  // A product that is not the largest of its kernel has numbers of its own, named by its size: "of1960x512x4608_m".
  std::string part_of(const Frame& frame) const {
    const GroupStage& stage = group().stages[frame.first];
    const std::vector<int64_t> extents = stage.stage.extents();
    const Contraction& c = *stage.contraction;
    const int64_t rows = product(extents, c.batch) * product(extents, c.m);
    return fmt::format("of{}x{}x{}_", rows, product(extents, c.n), product(extents, c.k));
  }

  Numbers numbers_of(const Frame& frame, const Numbers& numbers) const {
    if (!is_product(frame)) return own_numbers(frame);
    const std::string part = part_of(frame);
    const Frame& main = frames_[main_frame()];
    Numbers mine;
    if (is_product(main) && part == part_of(main)) mine = numbers;  // layers that are alike are tuned together
    for (const auto& [key, number] : numbers)
      if (key.starts_with(part)) mine[key.substr(part.size())] = number;
    return mine;
  }

  // Other tiles of the larger ones of the other products, each beside these numbers for all else.
  std::vector<Numbers> tiles_of_others(const Numbers& now) const {
    constexpr size_t kParts = 6, kEach = 3;
    constexpr double kWorthIt = 0.03;  // of the work of all products
    std::map<std::string, double> work;
    std::map<std::string, const Frame*> frames;
    double all = 0;
    for (const Frame& frame : frames_) {
      if (!is_product(frame)) continue;
      const double mine = work_of_stage(group().stages[frame.first]);
      work[part_of(frame)] += mine, frames[part_of(frame)] = &frame, all += mine;
    }
    if (is_product(frames_[main_frame()])) work.erase(part_of(frames_[main_frame()]));
    std::vector<std::pair<double, std::string>> parts;
    for (const auto& [part, mine] : work)
      if (mine > kWorthIt * all) parts.emplace_back(-mine, part);
    std::sort(parts.begin(), parts.end());
    if (parts.size() > kParts) parts.resize(kParts);
    std::vector<Numbers> result;
    for (const auto& [_, part] : parts) {
      const Frame& frame = *frames[part];
      const std::vector<Numbers> tiles =
          contraction_candidates(group(), frame, prepared_.products.at(frame.first), hardware_);
      for (size_t i = 1; i < tiles.size() && i <= kEach; ++i) {
        result.push_back(now);
        for (const auto& [key, number] : tiles[i]) result.back()[part + key] = number;
      }
    }
    return result;
  }

  // Best guess first.
  std::vector<Numbers> tiles() const {
    const Frame& frame = frames_[main_frame()];
    if (const auto attention = find_attention(group(), frame.first); attention && attention->last == frame.last)
      return attention_candidates(group(), *attention, hardware_);
    if (is_contraction(group(), frame))
      return other_ways(
          with_copies(contraction_candidates(group(), frame, prepared_.products.at(frame.first), hardware_)));
    std::vector<Numbers> all = window_candidates(group(), frame), others = rows_candidates(group(), frame, hardware_);
    if (!shares_much(group(), frame, hardware_)) std::swap(all, others);
    all.insert(all.end(), others.begin(), others.end());
    return all;
  }

  std::vector<Numbers> depths(const Numbers& now) const {
    const Frame& frame = frames_[main_frame()];
    if (const auto attention = find_attention(group(), frame.first); attention && attention->last == frame.last)
      return attention_depths(group(), *attention, now, hardware_);
    if (is_contraction(group(), frame))
      return contraction_depths(group(), frame, prepared_.products.at(frame.first), now, hardware_);
    return now.count("share") > 0 ? std::vector<Numbers>{} : rows_depths(group(), frame, now, hardware_);
  }

  TritonLaunch print(const Frame& frame, const std::string& name, const Numbers& numbers) const {
    if (const auto attention = find_attention(group(), frame.first); attention && attention->last == frame.last)
      return print_attention(group(), *attention, name, numbers, hardware_);
    if (is_contraction(group(), frame)) {
      const auto products = prepared_.products.find(frame.first);
      if (products == prepared_.products.end()) throw Unsupported{"a part of attention alone"};
      Numbers chosen = numbers;
      if (kernel_.has("order")) chosen["by_columns"] = 1;
      return print_contraction(group(), frame, products->second, name, chosen, hardware_);
    }
    return print_lanes(group(), frame, name, numbers, hardware_);
  }

  // Printed with the best guess of its numbers, once: it is what takes long.
  const TritonLaunch& guess(const Frame& frame) const {
    const std::pair stages{frame.first, frame.last};
    const auto known = tried_.find(stages);
    return known != tried_.end() ? known->second : tried_.emplace(stages, print(frame, "f", {})).first->second;
  }

  // Other tiles of copies, with the best guess for the contraction, come second.
  std::vector<Numbers> with_copies(std::vector<Numbers> all) const {
    const auto copy =
        std::find_if(frames_.begin(), frames_.end(), [&](const Frame& one) { return computes_copy(one); });
    if (copy == frames_.end()) return all;
    std::vector<Numbers> copies;
    std::vector<Numbers> tiles = window_candidates(group(), *copy);
    if (tiles.empty()) tiles = copy_candidates(group(), *copy);
    tiles.push_back({{"apart", 1}});
    for (const Numbers& tile : tiles) {
      copies.push_back(all.front());
      for (const auto& [key, number] : tile) copies.back()[std::string(kOfCopy) + key] = number;
    }
    all.insert(all.begin() + 1, copies.begin(), copies.end());
    return all;
  }
  // Where tiles give parts of reductions, or the loop splits an operand, the best guess without that comes second.
  std::vector<Numbers> other_ways(std::vector<Numbers> all) const {
    const std::vector<GroupStage>& stages = group().stages;
    const auto add = [&](const char* key, int64_t number) {
      Kernel other = kernel_;
      std::erase_if(other.numbers, [](const auto& one) { return !is_of_whole_kernel(one.first); });
      // And what it does without already, or each would be tried behind the other for ever.
      other.numbers[key] = number;
      Numbers without = Kernels(built_, other, hardware_).tiles().front();
      without[key] = number;
      all.insert(all.begin() + 1, std::move(without));
    };
    if (kernel_.number(kReadsAgain, 0) == 0 && std::any_of(stages.begin(), stages.end(), is_of_tile))
      add(kReadsAgain, 1);
    const bool splits = std::any_of(prepared_.products.begin(), prepared_.products.end(),
                                    [](const auto& one) { return splits_in_loop(one.second); });
    if (kernel_.number(kInLoop, -1) == -1 && splits) add(kInLoop, 0);
    return all;
  }
  Numbers own_numbers(const Frame& frame) const { return computes_copy(frame) ? copies_ : Numbers{}; }
  bool computes_copy(const Frame& frame) const {
    return frame.last > frame.first && copy_launch_of(group(), frame.first);
  }

  // The longest runs of stages that one launch can compute without losing the parallelism that they have alone.
  void cut() {
    if (!copies_.count("apart")) prepared_ = compute_in_copies(prepared_, copies_, hardware_);
    const int stages = static_cast<int>(group().stages.size());
    for (int from = 0; from < stages; from = frames_.back().last + 1) {
      if (attends(from)) continue;
      const auto copy = copy_launch_of(group(), from);
      std::vector<Frame> runs = frames_from(group(), from, copy ? copy->copy : last_beside(from));
      while (!copy && runs.size() > 1 && !fits(runs.back())) runs.pop_back();
      frames_.push_back(runs.back());
      if (copy || runs.size() == 1) guess(frames_.back());  // throws what it cannot do
      add_parts(frames_.back());
    }
  }

  // The last stage that may be in one launch with `from`: no later one begins with another contraction or copy, and a
  // launch holds one value of a tensor.
  int last_beside(int from) const {
    const int stages = static_cast<int>(group().stages.size());
    std::set<int> made = {group().stages[from].dest};
    for (int s = from + 1; s < stages; ++s)
      if (group().stages[s].contraction || copy_launch_of(group(), s) || !made.insert(group().stages[s].dest).second)
        return s - 1;
    return stages - 1;
  }

  // The axis of a stage that is this one of the product; -1: none.
  static int spatial_axis(const GroupStage& one, int of_product) {
    for (int a = 0; a < one.stage.rank(); ++a)
      if (one.in_tile[a]->kind == Expr::Kind::axis && one.in_tile[a]->axis == of_product) return a;
    return -1;
  }

  // What a product's tiles compute of the rows that they have is computed in its launch.
  void add_parts(Frame& frame) const {
    const std::vector<GroupStage>& stages = group().stages;
    if (!is_contraction(group(), frame)) return;
    Frame more = frame;
    const Shape& shape = stages[frame.first].stage.type.shape;
    for (size_t s = frame.last + 1; s < stages.size() && is_of_tile(stages[s]); ++s) {
      more.last = static_cast<int>(s);
      std::map<int, int> parts;  // axes of the product that are longer than 1 and no rows -> those of its parts
      for (int a = 0; a < static_cast<int>(shape.size()); ++a)
        if (shape[a] > 1 && std::count(stages[s].tile_rows.begin(), stages[s].tile_rows.end(), a) == 0)
          parts.emplace(a, static_cast<int>(parts.size()));
      for (SharedAxis& axis : more.shared) {
        if (!stages[s].in_tile.empty()) {
          axis.stage_axis.push_back(spatial_axis(stages[s], axis.stage_axis[0]));
          continue;
        }
        const auto part = parts.find(axis.stage_axis[0]);
        axis.stage_axis.push_back(part == parts.end() ? -1 : part->second);
      }
    }
    if (more.last != frame.last && is_printable(more))
      frame = std::move(more);  // else they are launches like any other
  }

  // A frame of attention, where it can be one launch.
  bool attends(int from) {
    const auto attention = find_attention(group(), from);
    if (!attention) return false;
    const Frame frame = frame_over(group(), from, attention->last);
    if (!is_printable(frame)) return false;
    frames_.push_back(frame);
    return true;
  }

  bool is_printable(const Frame& frame) const {
    try {
      guess(frame);
      return true;
    } catch (const Unsupported&) {
      return false;
    }
  }

  bool fits(const Frame& frame) const {
    if (group().stages[frame.first].contraction && !is_contraction(group(), frame)) return false;
    double all = 0;
    const double programs = static_cast<double>(programs_of(frame));
    for (int s = frame.first; s <= frame.last; ++s) {
      const GroupStage& stage = group().stages[s];
      const double work = work_of_stage(stage);
      all += work;
      if (work > static_cast<double>(kLightWork) * programs && programs < static_cast<double>(kEnoughPrograms) &&
          programs < static_cast<double>(stage.stage.type.elements()))
        return false;
      if (frame.last > frame.first && walks_windows(frame, s)) return false;
    }
    if (frame.shared.empty() && all > static_cast<double>(8 * kLightWork)) return false;
    return is_printable(frame);
  }

  // Whether a stage reduces something, such as a window, for each of many results of a row, or much for each. A launch
  // of whole rows does that in a loop, again for each of its passes; alone, all of its results are lanes.
  bool walks_windows(const Frame& frame, int s) const {
    const GroupStage& one = group().stages[s];
    int64_t row = 1;
    for (int a = 0; a < one.stage.rank(); ++a)
      if (frame.shared_of(s, a) < 0) row *= one.stage.type.shape[a];
    if (one.contraction || !is_reduction(one.stage.combine) || product(one.stage.reduce) <= 1) return false;
    const auto reads = static_cast<int64_t>(loads_of(one.stage.body).size()) * product(one.stage.reduce);
    return row > kLongRow || (row > 1 && reads > kMostReads);
  }

  size_t main_frame() const {
    size_t best = 0;
    double most = -1;
    for (size_t f = 0; f < frames_.size(); ++f) {
      double work = 0;
      for (int s = frames_[f].first; s <= frames_[f].last; ++s)
        work += work_of_stage(group().stages[s]) * (group().stages[s].contraction ? 1e3 : 1);
      if (work > most) most = work, best = f;
    }
    return best;
  }

  // "k3_linear_gelu", and what a launch of several computes: "k3_left_high", "k3_out_cat_part2".
  std::string name_of(size_t f) const {
    if (frames_.size() == 1) return group().name;
    const auto last = [&](size_t frame) -> const GroupStage& { return group().stages[frames_[frame].last]; };
    const std::string name = kernel_.name + "_" + group().tensors[last(f).dest].name;
    if (last(f).run_if) return name + "_again";
    int part = 1;  // of those that fill the same tensor
    for (size_t before = 0; before < f; ++before) part += last(before).dest == last(f).dest;
    return name + (part > 1 ? "_part" + std::to_string(part) : "");
  }

  const Group& built_;
  const Kernel& kernel_;
  const Hardware& hardware_;
  const Numbers copies_ = of_copies(kernel_.numbers);
  Prepared prepared_;
  std::vector<Frame> frames_;
  mutable std::map<std::pair<int, int>, TritonLaunch> tried_;  // by first and last stage
};

Error not_printable(const Kernel& kernel, const Unsupported& unsupported) {
  return Error{"printing " + kernel.name + " for triton", "not printable yet", unsupported.what, ""};
}

}  // namespace

Result<TritonKernel> print_triton_kernel(const Program& program, const Kernel& kernel, const Hardware& hardware) {
  if (is_recurrent(program, kernel)) return print_recurrent_kernel(program, kernel, hardware);
  MTMC_TRY(const Group group, build_group(program, kernel));
  try {
    const Kernels kernels(group, kernel, hardware);
    const std::vector<TritonLaunch> launches = kernels.launches(kernel.numbers);
    const auto own = std::count_if(program.kernels.begin(), program.kernels.end(),
                                   [](const Kernel& one) { return one.family != Family::library; });
    return assemble(kernels.group(), kernel, launches, own > 1 || launches.size() > 1);
  } catch (const Unsupported& unsupported) {
    return not_printable(kernel, unsupported);
  }
}

namespace {

// What printing a kernel with the best guess of its numbers comes to.
struct Tried {
  std::string kernel;  // the name of the one that was printed
  Status status = ok_status();
  std::optional<TritonPasses> passes;
};

Tried tried(const Program& program, const Kernel& kernel, const Hardware& hardware) {
  static KernelMemo<Tried> memo;
  return memo.known_or(kernel_key(program, kernel, hardware), [&]() -> Tried {
    const auto group = build_group(program, kernel);
    if (!group.ok()) return {kernel.name, group.error(), std::nullopt};
    try {
      return {kernel.name, ok_status(), Kernels(*group, kernel, hardware).passes()};
    } catch (const Unsupported& unsupported) {
      return {kernel.name, not_printable(kernel, unsupported), std::nullopt};
    }
  });
}

}  // namespace

Status can_print_triton_kernel(const Program& program, const Kernel& kernel, const Hardware& hardware) {
  if (!is_recurrent(program, kernel) && kernel.numbers.empty()) {
    const Tried known = tried(program, kernel, hardware);
    return known.status.ok() ? known.status : as_of(known.status.error(), known.kernel, kernel.name);
  }
  const auto printed = print_triton_kernel(program, kernel, hardware);
  return printed.ok() ? ok_status() : Status(printed.error());
}

std::optional<TritonPasses> triton_passes(const Program& program, const Kernel& kernel, const Hardware& hardware) {
  return is_recurrent(program, kernel) ? std::nullopt : tried(program, kernel, hardware).passes;
}

std::vector<Numbers> triton_candidates(const Program& program, const Kernel& kernel, const Hardware& hardware) {
  if (is_recurrent(program, kernel)) return {};
  const auto group = build_group(program, kernel);
  if (!group.ok()) return {};
  try {
    return Kernels(*group, kernel, hardware).candidates();
  } catch (const Unsupported&) {
    return {};  // `supports` says why
  }
}

}  // namespace mtmc
