#include "targets/triton/window_printer.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/text.h"
#include "targets/triton/stage_printer.h"

namespace mtmc::triton {
namespace {

constexpr int64_t kMostShared = 16;     // the most neighbours that a lane keeps
constexpr int64_t kMostUnrolled = 640;  // the most elements of a window that a thread unrolls
constexpr int64_t kLanes = 128;
constexpr int64_t kSector = 8;  // elements of f32 that memory hands out together

// The window's axis along which neighbours overlap, and the axis of the frame along which they are neighbours.
struct Overlap {
  int shared = 0, reduce = 0;        // indices into Frame::shared and Stage::reduce
  int64_t extent = 1, window = 1;    // how many neighbours there are; the window's elements along that axis
  int64_t stride = 1, dilation = 1;  // the neighbours' distance in memory, and that of the window's elements
  int64_t others = 1;                // elements of the window's other axes
};

// Elements along the axis that `share` neighbours read.
int64_t reach(const Overlap& overlap, int64_t share) {
  std::set<int64_t> places;
  for (int64_t i = 0; i < share; ++i)
    for (int64_t k = 0; k < overlap.window; ++k) places.insert(i * overlap.stride + k * overlap.dilation);
  return static_cast<int64_t>(places.size());
}

// Every stage has only shared axes; the first combines a window, the others are pointwise. A copy of the results has
// them in the order of the lanes.
bool is_window(const Group& group, const Frame& frame) {
  if (frame.shared.empty()) return false;
  for (int s = frame.first; s <= frame.last; ++s) {
    const GroupStage& one = group.stages[s];
    if (one.run_if || one.contraction) return false;
    if (one.peak_of && frame.shared_of(s, one.stage.rank() - 1) + 1 != static_cast<int>(frame.shared.size()))
      return false;
    if (s > frame.first && one.stage.combine != Combine::none) return false;
    for (int a = 0; a < one.stage.rank(); ++a)
      if (one.stage.type.shape[a] > 1 && frame.shared_of(s, a) < 0) return false;
  }
  const Stage& first = group.stages[frame.first].stage;
  const bool combines = first.combine == Combine::sum || first.combine == Combine::max || first.combine == Combine::min;
  return combines && !first.reduce.empty() && is_float(first.body->dtype) && product(first.reduce) <= 64;
}

std::optional<Overlap> find_overlap(const Group& group, const Frame& frame) {
  if (!is_window(group, frame) || is_wide(group)) return std::nullopt;
  const Stage& stage = group.stages[frame.first].stage;
  const std::vector<int64_t> extents = stage.extents();
  std::optional<Overlap> best;
  for (const Expr* load : loads_of(stage.body)) {
    ExprP flat = flat_index(load->args, group.tensors[load->tensor].strides);
    const Affine form = affine(simplify(flat, extents), static_cast<int>(extents.size()));
    if (!form.ok) continue;
    // The last axis is left to the lanes: what they read lies side by side, or nearly so.
    const int lanes = frame.axis_of(static_cast<int>(frame.shared.size()) - 1, frame.first);
    if (lanes < 0 || form.coefficients[lanes] < 1 || form.coefficients[lanes] > kSector) continue;
    for (int i = 0; i + 1 < static_cast<int>(frame.shared.size()); ++i)
      for (size_t k = 0; k < stage.reduce.size(); ++k) {
        const int a = frame.axis_of(i, frame.first);
        const int64_t step = form.coefficients[stage.rank() + k];
        if (a < 0 || step <= 0 || form.coefficients[a] <= 0) continue;
        const Overlap one{i,
                          static_cast<int>(k),
                          frame.shared[i].extent,
                          stage.reduce[k],
                          form.coefficients[a],
                          step,
                          product(stage.reduce) / stage.reduce[k]};
        if (reach(one, kMostShared) < kMostShared * one.window) best = one;
      }
  }
  return best;
}

// Divisors of the extent, of which eight neighbours is the best guess: more need more registers.
std::vector<int64_t> shares(const Overlap& overlap) {
  std::vector<int64_t> found;
  for (const int64_t most : {int64_t{8}, kMostShared, int64_t{4}}) {
    int64_t share = std::min(most, overlap.extent);
    while (share > 1 && (overlap.extent % share != 0 || reach(overlap, share) * overlap.others > kMostUnrolled))
      --share;
    if (share > 1 && std::find(found.begin(), found.end(), share) == found.end()) found.push_back(share);
  }
  return found;
}

class WindowPrinter : public StagePrinter {
 public:
  WindowPrinter(const Group& group, const Frame& frame, const Overlap& overlap, std::string name,
                const Numbers& numbers)
      : StagePrinter(group, frame.first, frame.last, std::move(name)),
        share_(numbers.at("share")),
        lanes_(numbers.at("rows")),
        warps_(numbers.at("warps")),
        neighbours_(overlap.shared) {
    if (overlap.extent % share_ != 0) throw Unsupported{"neighbours that do not fill the axis"};
    for (const SharedAxis& axis : frame.shared) extents_.push_back(axis.extent);
    extents_[neighbours_] /= share_;
    for (int s = first_; s <= last_; ++s)
      for (int a = 0; a < stage(s).rank(); ++a) axes_[s].push_back(frame.shared_of(s, a));
    for (size_t k = 0; k < stage(first_).reduce.size(); ++k) {
      axes_[first_].push_back(static_cast<int>(extents_.size()));
      window_.push_back(static_cast<int>(extents_.size()));
      extents_.push_back(stage(first_).reduce[k]);
    }
    std::swap(window_[overlap.reduce], window_.front());  // the overlapping axis comes first
    tile_.name = "t";
    tile_.extents = extents_;
    tile_.rows.block = lanes_;
    for (size_t i = 0; i < frame.shared.size(); ++i) tile_.rows.axes.push_back(static_cast<int>(i));
  }

  TritonLaunch run() {
    int64_t count = 1;
    for (int a : tile_.rows.axes) count *= extents_[a];
    const std::string pid = out_.fresh("pid");
    out_.line(pid + " = tl.program_id(0)");
    open_lane(tile_.rows, "at", pid + " * " + std::to_string(lanes_), count);
    // Loads do not pass stores: all of them come first, so that many are under way at a time.
    const auto turn_of = [&](int64_t i) {
      stand_in(neighbours_, axis(neighbours_) * index_constant(share_) + index_constant(i));
    };
    std::vector<std::string> results;
    for (int64_t i = 0; i < share_; ++i) {
      turn_of(i);
      results.push_back(combined());
    }
    std::vector<std::string> magnitudes;
    const ExprP& most = group_.stages[last_].peak_of;
    for (int64_t i = 0; i < share_; ++i) {
      turn_of(i);
      keep_again({results[i], kRows}, first_);
      for (int s = first_ + 1; s <= last_; ++s) keep_again(value(body(s), tile_), s);
      if (most) magnitudes.push_back(value(canonical(last_, most), tile_).text);
    }
    if (most) store_peak({combine(magnitudes, "most", Combine::max), kRows}, tile_, pid);
    return finished(blocks(count, lanes_), warps_, 1);
  }

 private:
  void keep_again(const Value& value, int s) {
    if (value.dims != kRows) throw Unsupported{"windows with results that are all the same"};
    keep(s, value, stage(s).body->dtype, tile_, true);
  }

  // The window of the neighbour whose turn it is: what its parts along the overlapping axis are combined to.
  std::string combined() {
    std::vector<std::string> parts;
    for (int64_t k = 0; k < extents_[window_.front()]; ++k) {
      stand_in(window_.front(), index_constant(k));
      std::vector<ExprP> elements;
      collect(1, elements);
      std::erase_if(elements, [&](const ExprP& e) { return adds_nothing(e); });
      if (elements.empty()) continue;
      std::string key = "part:";
      for (const ExprP& e : elements) key += to_string(e) + ";";
      if (const auto* known = out_.find(key)) {
        parts.push_back(known->text);
        continue;
      }
      std::vector<std::string> texts;
      for (const ExprP& e : elements) {
        const Value one = value(e, tile_);
        if (one.dims != kRows) throw Unsupported{"windows over what is the same in all of them"};
        texts.push_back(one.text);
      }
      parts.push_back(combine(texts, "part", stage(first_).combine));
      out_.remember(key, {parts.back(), kRows});
    }
    if (parts.empty()) throw Unsupported{"windows with nothing in them"};
    return combine(parts, "whole", stage(first_).combine);
  }

  // What surely lies outside the tensor is no load but the padding's number.
  bool adds_nothing(const ExprP& e) const {
    return is_constant(e) && e->number == neutral(stage(first_).combine, e->dtype)->number;
  }

  // The window's elements over its axes from `from` on.
  void collect(size_t from, std::vector<ExprP>& elements) {
    if (from == window_.size()) {
      elements.push_back(body(first_));
      return;
    }
    for (int64_t k = 0; k < extents_[window_[from]]; ++k) {
      stand_in(window_[from], index_constant(k));
      collect(from + 1, elements);
    }
  }

  std::string combine(const std::vector<std::string>& texts, const std::string& hint, Combine way) {
    const std::string name = out_.fresh(hint);
    out_.line(name + " = " + texts[0]);
    for (size_t i = 1; i < texts.size(); ++i) {
      const std::string& one = texts[i];
      if (way == Combine::sum) {
        out_.line(name + " += " + one);
      } else {
        const std::string function = way == Combine::max ? "tl.maximum(" : "tl.minimum(";
        out_.line(name + " = " + function + name + ", " + one + ", propagate_nan=tl.PropagateNan.ALL)");
      }
    }
    return name;
  }

  int64_t share_, lanes_, warps_;
  int neighbours_;
  std::vector<int> window_;
  Tile tile_;
};

Numbers numbers_of(int64_t share) { return {{"share", share}, {"rows", kLanes}, {"warps", kLanes / 32}}; }

}  // namespace

std::vector<Numbers> window_candidates(const Group& group, const Frame& frame) {
  std::vector<Numbers> all;
  if (const auto overlap = find_overlap(group, frame))
    for (const int64_t share : shares(*overlap)) all.push_back(numbers_of(share));
  return all;
}

bool shares_much(const Group& group, const Frame& frame, const Hardware& hardware) {
  const auto overlap = find_overlap(group, frame);
  if (!overlap || shares(*overlap).empty()) return false;
  const int64_t share = shares(*overlap).front();
  int64_t lanes = 1;
  for (const SharedAxis& axis : frame.shared) lanes *= axis.extent;
  const bool busy = lanes / share >= 2 * hardware.cores * kLanes;
  return busy && 2 * reach(*overlap, share) <= share * overlap->window;
}

TritonLaunch print_windows(const Group& group, const Frame& frame, const std::string& name, const Numbers& numbers) {
  const auto overlap = find_overlap(group, frame);
  if (!overlap || shares(*overlap).empty()) throw Unsupported{"windows that do not overlap"};
  Numbers chosen = numbers_of(shares(*overlap).front());
  for (const auto& [key, value] : numbers)
    if (chosen.count(key)) chosen[key] = value;
  return WindowPrinter(group, frame, *overlap, name, chosen).run();
}

TritonLaunch print_lanes(const Group& group, const Frame& frame, const std::string& name, const Numbers& numbers,
                         const Hardware& hardware) {
  const bool rare = group.stages[frame.last].run_if != nullptr, shares = numbers.count("share") > 0;
  const bool guess = numbers.size() == numbers.count("warps");  // those say nothing about tiles
  if (!rare && (shares || (guess && shares_much(group, frame, hardware))))
    return print_windows(group, frame, name, numbers);
  return print_rows(group, frame, name, shares ? Numbers{} : numbers, hardware);
}

}  // namespace mtmc::triton
