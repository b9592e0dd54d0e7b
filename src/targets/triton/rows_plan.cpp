#include "targets/triton/rows_plan.h"

#include <algorithm>
#include <map>

namespace mtmc::triton {
namespace {

constexpr int64_t kNear = 4;             // elements from one to the next that still share lines
constexpr int64_t kMostSequential = 64;  // elements of a reduction that every lane does for itself
constexpr int64_t kShortRow = 16;        // results of a row that a lane writes one by one
constexpr int64_t kLeastRow = 64;        // bytes of a row side by side that several lanes read together
// Lanes of a row, and of all: where there are so few, and each would do more for itself, most of a GPU waits.
constexpr int64_t kFewLanes = 32, kManyLanes = int64_t(1) << 17;

std::vector<int64_t> without_ones(std::vector<int64_t> extents) {
  std::erase(extents, 1);
  return extents;
}

class Planner {
 public:
  Planner(const Group& group, const Frame& frame, bool flat) : group_(group), frame_(frame), flat_(flat) {}

  RowsPlan run() {
    for (const SharedAxis& axis : frame_.shared) plan_.extents.push_back(axis.extent);
    plan_.shared = static_cast<int>(frame_.shared.size());
    find_inner();
    plan_.extents.insert(plan_.extents.end(), inner_.begin(), inner_.end());
    plan_.inner = static_cast<int>(inner_.size());
    for (int s = frame_.first; s <= frame_.last; ++s) place(s);
    const bool walks = std::any_of(plan_.sequential.begin(), plan_.sequential.end(), [](bool s) { return s; });
    plan_.windows_to_copy = walks && copies();
    plan_.in_turn =
        any_stage([](const Stage& s) { return s.combine == Combine::scan_prod && is_float(s.body->dtype); }) &&
        !any_stage([](const Stage& s) { return is_reduction(s.combine); });
    roles();
    return plan_;
  }

 private:
  std::vector<int64_t> inner_spatial(int s) const {
    std::vector<int64_t> result;
    const Stage& stage = group_.stages[s].stage;
    for (int a = 0; a < stage.rank(); ++a)
      if (stage.type.shape[a] > 1 && frame_.shared_of(s, a) < 0) result.push_back(stage.type.shape[a]);
    return result;
  }

  template <class Condition>
  bool any_stage(const Condition& holds) const {
    return std::any_of(group_.stages.begin() + frame_.first, group_.stages.begin() + frame_.last + 1,
                       [&](const GroupStage& one) { return holds(one.stage); });
  }

  int64_t rows() const {
    int64_t count = 1;
    for (const SharedAxis& axis : frame_.shared) count *= axis.extent;
    return count;
  }

  // Whether a stage makes a few results of each row that others reduce, and nothing here reads them: the best of it,
  // and their places. What walks the row needs the columns.
  bool stands_apart(int s) const {
    const GroupStage& one = group_.stages[s];
    const std::vector<int64_t> own = inner_spatial(s);
    if (one.stage.combine != Combine::none || own.empty() || product(own) > kShortRow || copies()) return false;
    bool read = false, longer = false;
    for (int other = frame_.first; other <= frame_.last; ++other) {
      const Stage& stage = group_.stages[other].stage;
      for (const Expr* e : loads_of(stage.body)) read = read || e->tensor == one.dest;
      longer = longer || (is_reduction(stage.combine) && inner_spatial(other).empty() &&
                          product(stage.reduce) > product(own) && other < s);
    }
    return longer && !read;
  }

  void find_inner() {
    for (int s = frame_.first; s <= frame_.last; ++s) plan_.apart.push_back(stands_apart(s));
    for (int s = frame_.first; s <= frame_.last && inner_.empty(); ++s)
      if (!plan_.apart[s - frame_.first]) inner_ = inner_spatial(s);
    bool long_rows = false;  // whoever reduces those needs the columns
    for (int s = frame_.first; s <= frame_.last; ++s)
      long_rows = long_rows || product(group_.stages[s].stage.reduce) > kMostSequential;
    for (int s = frame_.first; s <= frame_.last; ++s) {
      const Stage& stage = group_.stages[s].stage;
      const std::vector<int64_t> reduced = without_ones(stage.reduce);
      const bool scan = is_scan(stage.combine);
      const bool alone = is_reduction(stage.combine) && inner_spatial(s).empty();
      const bool long_enough =
          product(reduced) > kMostSequential || frame_.shared.empty() || (!long_rows && reads_rows(s));
      if (inner_.empty() && alone && long_enough) inner_ = reduced;
      plan_.sequential.push_back(is_reduction(stage.combine) && !(alone && reduced == inner_ && !inner_.empty()));
      // One number of a row is found by one lane of it, and the others wait.
      const bool few =
          !inner_.empty() && (alone || (product(inner_) < kFewLanes && product(inner_) * rows() < kManyLanes));
      if (plan_.sequential.back() && product(reduced) > (few ? 1 : 64) * kMostSequential)
        throw Unsupported{"a reduction with inner axes left over"};
      const std::vector<int64_t> own = inner_spatial(s);
      if (own == inner_) plan_.apart[s - frame_.first] = false;
      if (!own.empty() && own != inner_ && !plan_.apart[s - frame_.first])
        throw Unsupported{"stages with different inner axes"};
      if (scan && (own.size() != 1 || frame_.shared_of(s, stage.scan_axis) >= 0))
        throw Unsupported{"a scan beside other inner axes"};
    }
  }

  // Does it reduce rows of a tensor as large as any it reads, each side by side in memory? A lane for each would read
  // far from its neighbours.
  bool reads_rows(int s) const {
    const Stage& stage = group_.stages[s].stage;
    const std::vector<int64_t> extents = stage.extents();
    int64_t largest = 0;
    bool rows = false;
    for (const Expr* e : loads_of(stage.body)) {
      const TensorType& type = group_.tensors[e->tensor].type;
      if (type.size_bytes() < largest) continue;
      if (type.size_bytes() > largest) rows = false;
      largest = type.size_bytes();
      const Affine form = flat_form(s, e->args, e->tensor);
      if (!form.ok) continue;
      int64_t run = 1;  // elements from the first of a row on that lie side by side
      for (int a = static_cast<int>(extents.size()) - 1; a >= stage.rank(); --a)
        run = extents[a] == 1 ? run : form.coefficients[a] == run ? run * extents[a] : 0;
      const bool lanes_near = std::any_of(form.coefficients.begin(), form.coefficients.begin() + stage.rank(),
                                          [](int64_t step) { return step >= 1 && step <= kNear; });
      rows = rows || (!lanes_near && run * bytes(type.dtype) >= kLeastRow);
    }
    return rows;
  }

  void place(int s) {
    const Stage& stage = group_.stages[s].stage;
    const bool own_loop = plan_.sequential[s - frame_.first], apart = plan_.apart[s - frame_.first];
    std::vector<int> axes;
    int next = plan_.shared;
    const std::vector<int64_t> extents = stage.extents();
    for (size_t a = 0; a < extents.size(); ++a) {
      const bool spatial = static_cast<int>(a) < stage.rank();
      const int shared = spatial ? frame_.shared_of(s, static_cast<int>(a)) : -1;
      if (shared >= 0) {
        axes.push_back(shared);
      } else if (extents[a] == 1) {
        axes.push_back(-1);
      } else if (!apart && (spatial || !own_loop)) {
        axes.push_back(next++);
      } else {
        axes.push_back(static_cast<int>(plan_.extents.size()));
        plan_.extents.push_back(extents[a]);
      }
    }
    plan_.axes.push_back(axes);
  }

  // The axis along which most of the memory that is read (or, `written`, stored) lies side by side, or nearly; -1 where
  // there is none for the largest tensor, as of the phases of a transposed convolution: what is known of a bias then
  // says nothing.
  int contiguous_axis(bool written) const {
    std::map<int, double> weight;
    double unknown = 0;
    const auto note = [&](int s, const std::vector<ExprP>& indices, int tensor) {
      const Affine form = flat_form(s, indices, tensor);
      const std::vector<int>& axes = plan_.axes[s - frame_.first];
      const auto bytes = static_cast<double>(group_.tensors[tensor].type.size_bytes());
      bool known = false;
      for (size_t a = 0; form.ok && a < axes.size(); ++a) {
        const int64_t step = form.coefficients[a];
        if (step < 1 || step > kNear || axes[a] < 0 || axes[a] >= plan_.shared + plan_.inner) continue;
        weight[axes[a]] += bytes / static_cast<double>(step);
        known = true;
      }
      if (!known) unknown = std::max(unknown, bytes);
    };
    for (int s = frame_.first; s <= frame_.last; ++s) {
      const Stage& stage = group_.stages[s].stage;
      std::vector<ExprP> own;
      for (int a = 0; a < stage.rank(); ++a) own.push_back(axis(a));
      // What a copy computes may be stored beside it, in the order in which it is read.
      const bool counts =
          copies() ? s == frame_.last : group_.tensors[group_.stages[s].dest].role == GroupTensor::Role::write;
      if (written && counts)
        note(s, group_.stages[s].place.empty() ? own : group_.stages[s].place, group_.stages[s].dest);
      if (!written)
        for (const Expr* e : loads_of(stage.body)) note(s, e->args, e->tensor);
    }
    int best = -1;
    for (const auto& [axis, bytes] : weight)
      if (best < 0 || bytes > weight[best]) best = axis;
    return best < 0 || weight[best] < unknown ? -1 : best;
  }

  void roles() {
    const int read = contiguous_axis(false), written = contiguous_axis(true);
    std::vector<int> all;
    for (int a = 0; a < plan_.shared; ++a) all.push_back(a);
    const auto moved_last = [](std::vector<int> axes, int last) {
      if (const auto at = std::find(axes.begin(), axes.end(), last); at != axes.end()) {
        axes.erase(at);
        axes.push_back(last);
      }
      return axes;
    };
    if (plan_.inner > 0) {
      for (int a = 0; a < plan_.inner; ++a) plan_.columns.push_back(plan_.shared + a);
      const int near = read >= 0 ? read : written;
      plan_.contiguous_rows = near >= 0 && near < plan_.shared;
      plan_.rows = moved_last(all, near);
      if (plan_.contiguous_rows && breaks_runs(plan_.extents[near])) {
        plan_.programs.assign(plan_.rows.begin(), plan_.rows.end() - 1);
        plan_.rows = {near};
      }
    } else if (plan_.shared > 0) {
      flat_roles(all, read, written < 0 ? plan_.shared - 1 : written, moved_last);
    }
    for (int a : plan_.rows) plan_.row_count *= plan_.extents[a];
    for (int a : plan_.columns) plan_.column_count *= plan_.extents[a];
    for (int a : plan_.programs) plan_.apart_count *= plan_.extents[a];
  }

  // Whether blocks of rows that go on from one run of this many neighbours to the next are no runs for Triton, which
  // then has neighbouring threads read what lies far apart. Long runs waste little in blocks of their own.
  static bool breaks_runs(int64_t neighbours) { return neighbours % 32 != 0 && neighbours >= 8 * kTransposed; }

  template <class MovedLast>
  void flat_roles(const std::vector<int>& all, int read, int written, const MovedLast& moved_last) {
    const auto extent = [&](int a) { return plan_.extents[a]; };
    plan_.contiguous_rows = true;
    std::vector<int> run;
    if (read >= 0 && read != written) run = run_before(read, written);
    int64_t lanes = 1;
    for (int a : run) lanes *= extent(a);
    if (lanes >= 16 && extent(written) >= 16) {  // a transposition
      plan_.columns = {written};
      plan_.rows = run;
      for (int a : all)
        if (a != written && std::find(run.begin(), run.end(), a) == run.end()) plan_.programs.push_back(a);
      plan_.flat_columns = plan_.transposes = true;
      // Rows that fill their last block badly are one run with those of the next axis.
      if (wasted(lanes) && !plan_.programs.empty() && !wasted(lanes * extent(plan_.programs.back()))) {
        plan_.rows.insert(plan_.rows.begin(), plan_.programs.back());
        plan_.programs.pop_back();
      }
    } else if (all.size() > 1 && extent(written) >= 64 && !flat_) {
      plan_.columns = {written};
      for (int a : all)
        if (a != written) plan_.rows.push_back(a);
      plan_.flat_columns = true;
    } else {
      plan_.rows = moved_last(all, written);
    }
  }

  // Whether more than a quarter of the lanes of their blocks would be dead.
  static bool wasted(int64_t rows) {
    return 4 * blocks(rows, kTransposed) * kTransposed > 5 * rows && rows > kTransposed;
  }

  bool copies() const { return group_.stages[frame_.last].peak_of || group_.stages[frame_.last].run_if; }

  // Where lanes walk windows to copy them, the axes that lie in memory as one run up to `last`: pixels, whose windows
  // then overlap within a program in both directions.
  std::vector<int> run_before(int last, int written) const {
    std::vector<int> run = {last};
    for (int a = last - 1; plan_.windows_to_copy && a >= 0 && a != written && is_run(a, run.front()); --a)
      run.insert(run.begin(), a);
    return run;
  }

  // Whether all reads of memory walk axis a as they would if it and the next were one.
  bool is_run(int a, int next) const {
    for (int s = frame_.first; s <= frame_.last; ++s) {
      const std::vector<int>& axes = plan_.axes[s - frame_.first];
      const auto of = [&](const Affine& form, int axis) {
        const auto at = std::find(axes.begin(), axes.end(), axis);
        return at == axes.end() ? 0 : form.coefficients[at - axes.begin()];
      };
      for (const Expr* e : loads_of(group_.stages[s].stage.body)) {
        const Affine form = flat_form(s, e->args, e->tensor);
        if (!form.ok || of(form, a) != of(form, next) * plan_.extents[next]) return false;
      }
    }
    return true;
  }

  Affine flat_form(int s, const std::vector<ExprP>& indices, int tensor) const {
    ExprP flat = flat_index(indices, group_.tensors[tensor].strides);
    const std::vector<int64_t> extents = group_.stages[s].stage.extents();
    return affine(simplify(flat, extents), static_cast<int>(extents.size()));
  }

  const Group& group_;
  const Frame& frame_;
  bool flat_;
  std::vector<int64_t> inner_;
  RowsPlan plan_;
};

}  // namespace

RowsPlan plan_rows(const Group& group, const Frame& frame, bool flat) { return Planner(group, frame, flat).run(); }

}  // namespace mtmc::triton
