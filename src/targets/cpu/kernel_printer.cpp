#include "targets/cpu/kernel_printer.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "targets/cpu/block_lines.h"
#include "targets/cpu/loop_nest.h"
#include "targets/cpu/passes.h"
#include "targets/cpu/product_printer.h"
#include "targets/cpu/tile_plan.h"

namespace mtmc {
namespace {

constexpr int64_t kStackBytes = 8192;  // larger scratch comes from the thread's arena

class KernelPrinter : BlockLines {
 public:
  KernelPrinter(const Group& group, std::vector<Frame> frames, const Kernel& kernel, const Hardware& hardware)
      : BlockLines(1), group_(group), frames_(std::move(frames)), kernel_(kernel), hardware_(hardware) {}

  std::string body() {
    allocate_kernel_scratch();
    const int main = main_frame(group_, frames_);
    for (size_t f = 0; f < frames_.size(); ++f) print_frame(frames_[f], static_cast<int>(f) == main);
    return all_lines();
  }

 private:
  // Whether another frame reads tensor `t` than the one that defines it.
  bool crosses_frames(int t) const {
    int defined = -1;
    std::set<int> users;
    for (size_t f = 0; f < frames_.size(); ++f)
      for (int s = frames_[f].first; s <= frames_[f].last; ++s) {
        if (group_.stages[s].dest == t) defined = static_cast<int>(f);
        for (const Expr* e : loads_of(group_.stages[s].stage.body))
          if (e->tensor == t) users.insert(static_cast<int>(f));
      }
    users.erase(defined);
    return !users.empty();
  }

  void allocate_kernel_scratch() {
    int64_t bytes = 0;
    std::vector<std::string> declarations;
    for (size_t t = 0; t < group_.tensors.size(); ++t) {
      const GroupTensor& tensor = group_.tensors[t];
      if (tensor.role != GroupTensor::Role::scratch || !crosses_frames(static_cast<int>(t))) continue;
      const std::string type = memory_type(tensor.type.dtype);
      declarations.push_back(type + "* __restrict " + tensor.name + " = (" + type + "*)(kernel_scratch + " +
                             std::to_string(bytes) + ");");
      bytes += (tensor.type.size_bytes() + 63) / 64 * 64;
    }
    if (bytes == 0) return;
    line("char* kernel_scratch = kernel_arena.get(" + std::to_string(bytes) + ");");
    for (const std::string& declaration : declarations) line(declaration);
  }

  struct Tiling {
    const Frame* frame;
    std::vector<int64_t> tiles;
    std::map<std::string, int64_t> numbers;
    std::map<int, std::string> offsets;
    std::map<int, std::vector<int64_t>> strides;
  };

  std::string begin_of(const Tiling& t, size_t p) const {
    return t.tiles[p] == 1 ? "i" + std::to_string(p) : "b" + std::to_string(p);
  }

  // Scratch that lives in one tile: its strides and where its first element lies.
  int64_t tile_scratch(Tiling& tiling, int stage) const {
    const GroupStage& s = group_.stages[stage];
    std::vector<int64_t> shape = s.stage.type.shape;
    std::string offset;
    for (int a = 0; a < s.stage.rank(); ++a) {
      const int p = tiling.frame->shared_of(stage, a);
      if (p >= 0) shape[a] = tiling.tiles[p];
    }
    std::vector<int64_t> strides = contiguous_strides(shape);
    for (int a = 0; a < s.stage.rank(); ++a) {
      const int p = tiling.frame->shared_of(stage, a);
      if (p < 0) continue;
      if (tiling.tiles[p] == 1) {  // one index: it moves nothing
        strides[a] = 0;
        continue;
      }
      offset += std::string(offset.empty() ? "b" : " + b") + std::to_string(p) +
                (strides[a] == 1 ? "" : " * " + std::to_string(strides[a]));
    }
    tiling.strides[s.dest] = strides;
    tiling.offsets[s.dest] = offset;
    return product(shape);
  }

  void print_frame(const Frame& frame, bool is_main) {
    Tiling tiling{&frame, {}, default_numbers(group_, frame, kernel_, hardware_), {}, {}};
    if (is_main)
      for (const auto& [key, number] : kernel_.numbers) tiling.numbers[key] = number;
    tiling.tiles = tile_extents(group_, frame, kernel_, tiling.numbers);
    const size_t shared = frame.shared.size();
    if (shared > 0 && frame_work(group_, frame) >= 32768) {
      line("#pragma omp parallel for" + (shared > 1 ? " collapse(" + std::to_string(shared) + ")" : std::string()) +
           " schedule(static)");
    }
    const bool reversed = kernel_.choices.count("order") && kernel_.choices.at("order") == "reversed";
    for (size_t at = 0; at < shared; ++at) {
      const size_t p = reversed ? shared - 1 - at : at;
      const std::string var = begin_of(tiling, p), extent = std::to_string(frame.shared[p].extent);
      const std::string step = tiling.tiles[p] == 1 ? "++" + var : var + " += " + std::to_string(tiling.tiles[p]);
      line("for (long " + var + " = 0; " + var + " < " + extent + "; " + step + ")" + (at + 1 == shared ? " {" : ""));
    }
    if (shared > 0) ++depth_;
    for (size_t p = 0; p < shared; ++p) {
      if (tiling.tiles[p] == 1) continue;
      const std::string n = std::to_string(p), extent = std::to_string(frame.shared[p].extent);
      const bool even = frame.shared[p].extent % tiling.tiles[p] == 0;
      line("const long e" + n + " = " +
           (even ? "b" + n + " + " + std::to_string(tiling.tiles[p])
                 : "std::min<long>(b" + n + " + " + std::to_string(tiling.tiles[p]) + ", " + extent + ")") +
           ";");
    }
    declare_tile_scratch(tiling);
    for (int s = frame.first; s <= frame.last; ++s) s += print_stage_in(tiling, s);
    if (shared > 0) close();
  }

  void declare_tile_scratch(Tiling& tiling) {
    int64_t arena = 0;
    std::vector<std::string> declarations;
    std::set<int> homes;
    for (int s = tiling.frame->first; s <= tiling.frame->last; ++s) {
      const GroupTensor& tensor = group_.tensors[group_.stages[s].dest];
      if (tensor.role != GroupTensor::Role::scratch || crosses_frames(group_.stages[s].dest)) continue;
      const int home = home_of(group_, *tiling.frame, group_.stages[s].dest);
      if (home >= 0 && homes.insert(home).second) {
        tiling.strides[group_.stages[s].dest] = group_.tensors[home].strides;
        declarations.push_back(memory_type(tensor.type.dtype) + "* " + tensor.name + " = " + group_.tensors[home].name +
                               ";");
        continue;
      }
      const int64_t elements = tile_scratch(tiling, s), size = elements * bytes(tensor.type.dtype);
      const std::string type = memory_type(tensor.type.dtype);
      if (size <= kStackBytes) {
        declarations.push_back("alignas(64) " + type + " " + tensor.name + "[" + std::to_string(elements) + "];");
      } else {
        declarations.push_back(type + "* __restrict " + tensor.name + " = (" + type + "*)(scratch + " +
                               std::to_string(arena) + ");");
        arena += (size + 63) / 64 * 64 + 64;
      }
    }
    if (arena > 0) line("char* scratch = tile_arena.get(" + std::to_string(arena) + ");");
    for (const std::string& declaration : declarations) line(declaration);
  }

  // The stage that fetches the next rows: the one with the most arithmetic, which has time to wait for memory.
  int fetching_stage(const Tiling& tiling, int64_t tile) const {
    int best = -1;
    double most = 0;
    for (int s = tiling.frame->first; s <= tiling.frame->last; ++s) {
      const Stage& stage = group_.stages[s].stage;
      const double work = static_cast<double>(product(stage.extents())) * (1 + operation_count(stage.body));
      if (work <= most || next_rows(group_, *tiling.frame, s, tile).empty()) continue;
      most = work, best = s;
    }
    return best;
  }

  StagePlan plan_of(const Tiling& tiling, const GroupStage& stage, int s) const {
    StagePlan plan;
    plan.group = &group_;
    plan.stage = &stage;
    plan.offsets = tiling.offsets;
    plan.strides = tiling.strides;
    plan.parallel = tiling.frame->shared.empty();
    plan.split = plan.parallel && kernel_.has("split");
    const auto unroll = tiling.numbers.find("unroll");
    if (unroll != tiling.numbers.end()) plan.unroll = static_cast<int>(unroll->second);
    const std::vector<int64_t> extents = stage.stage.extents();
    for (int a = 0; a < static_cast<int>(extents.size()); ++a) {
      const int p = a < stage.stage.rank() ? tiling.frame->shared_of(s, a) : -1;
      AxisLoop loop{(a < stage.stage.rank() ? "j" : "r") + std::to_string(a),
                    "0",
                    std::to_string(extents[a]),
                    extents[a],
                    extents[a],
                    extents[a] == 1};
      if (loop.fixed) loop.name = "0";
      if (p >= 0) {
        const std::string n = std::to_string(p);
        loop = {"i" + n, "b" + n, "e" + n, extents[a], tiling.tiles[p], tiling.tiles[p] == 1};
      }
      plan.loops.push_back(loop);
    }
    return plan;
  }

  // Returns how many more stages were printed with it.
  int print_stage_in(const Tiling& tiling, int s) {
    StagePlan plan = plan_of(tiling, group_.stages[s], s);
    std::optional<Joined> joined;
    if (s < tiling.frame->last && !plan.parallel) joined = join(group_, group_.stages[s], group_.stages[s + 1]);
    if (joined) {
      StagePlan both = plan_of(tiling, joined->stage, s + 1);
      if (choose_vector_axis(both) >= joined->stage.stage.rank()) {
        plan = std::move(both);
        plan.tee = joined->tee;
      } else {
        joined.reset();
      }
    }
    if (const auto ahead = tiling.numbers.find("ahead"); ahead != tiling.numbers.end() && !tiling.tiles.empty())
      if (fetching_stage(tiling, tiling.tiles.back()) == s)
        plan.ahead = next_rows(group_, *tiling.frame, joined ? s + 1 : s, tiling.tiles.back() * ahead->second);
    const GroupStage& stage = *plan.stage;
    std::optional<std::string> text;
    if (stage.contraction && kernel_.has("tiled") && group_.tensors[stage.dest].type.dtype == DType::f32) {
      const auto depth = tiling.numbers.find("depth");
      text = print_product(plan, depth == tiling.numbers.end() ? 256 : depth->second);
    }
    if (!text) text = print_stage(plan);
    // What declares accumulators or constants gets a scope of its own.
    const std::string with = joined ? group_.tensors[joined->tee.tensor].name + ", " : "";
    const std::string what = "// " + with + group_.tensors[stage.dest].name + ": " + stage.op +
                             (stage.location.empty() ? "" : " (" + stage.location + ")");
    const bool scoped = stage.stage.combine != Combine::none || text->starts_with("const ");
    line(scoped ? "{  " + what : what);
    depth_ += scoped;
    for (const std::string& one : split(*text, '\n'))
      if (!one.empty()) line(one);
    depth_ -= scoped;
    if (scoped) line("}");
    return joined ? 1 : 0;
  }

  const Group& group_;
  std::vector<Frame> frames_;
  const Kernel& kernel_;
  const Hardware& hardware_;
};

}  // namespace

Result<CpuKernel> print_cpu_kernel(const Program& program, const Kernel& kernel, const Hardware& hardware) {
  MTMC_TRY(const Group original, build_group(program, kernel));
  const Group group = collapse_axes(original);
  CpuKernel result;
  result.name = group.name;
  std::vector<std::string> parameters;
  for (const GroupTensor& tensor : group.tensors) {
    if (tensor.role == GroupTensor::Role::scratch) continue;
    const bool read = tensor.role == GroupTensor::Role::read;
    parameters.push_back((read ? "const " : "") + memory_type(tensor.type.dtype) + "* __restrict " + tensor.name);
    result.arguments.push_back(tensor.value);
    (read ? result.reads : result.writes).push_back(tensor.value);
  }
  result.text = "extern \"C\" void " + group.name + "(" + join(parameters, ", ") + ") {\n";
  result.text += KernelPrinter(group, build_frames(group), kernel, hardware).body();
  result.text += "}\n";
  return result;
}

}  // namespace mtmc
