#include "targets/triton/copy_launch.h"

#include <algorithm>

#include "targets/triton/rows_plan.h"
#include "targets/triton/window_printer.h"

namespace mtmc::triton {
namespace {

bool reads(const GroupStage& stage, int tensor) {
  const auto loads = loads_of(stage.stage.body);
  return std::any_of(loads.begin(), loads.end(), [&](const Expr* e) { return e->tensor == tensor; });
}

class Joiner {
 public:
  Joiner(const Prepared& prepared, const Numbers& numbers, const Hardware& hardware)
      : result_(prepared), numbers_(numbers), hardware_(hardware) {}

  Prepared run() {
    for (int s = 0; s < static_cast<int>(stages().size()); ++s)
      if (stages()[s].peak_of) join(s);
    return std::move(result_);
  }

 private:
  std::vector<GroupStage>& stages() { return result_.group.stages; }

  void join(int copy) {
    GroupStage* largest = of_peaks(stages()[copy].peak_tensor);
    const int again = second_copy(stages()[copy].dest);
    if (!largest || again < 0) return;
    Group whole = result_.group;
    part_axes(copy);
    const int first = first_of(copy);
    if (first == copy) {
      result_.group = std::move(whole);
      return;
    }
    stages()[copy].producers = copy - first;
    const int64_t programs =
        print_lanes(result_.group, frame_over(result_.group, first, copy), "f", numbers_, hardware_).programs;
    result_.group.tensors[stages()[copy].peak_tensor].type.shape = largest->stage.reduce = {programs};
    repeat(first, copy, again);
  }

  // The stage that finds the largest of all peaks; null where it was split.
  GroupStage* of_peaks(int peaks) {
    const auto at =
        std::find_if(stages().begin(), stages().end(), [&](const GroupStage& s) { return reads(s, peaks); });
    const bool whole = at != stages().end() && at->stage.reduce == result_.group.tensors[peaks].type.shape;
    return whole ? &*at : nullptr;
  }

  int second_copy(int dest) {
    const auto at =
        std::find_if(stages().begin(), stages().end(), [&](const GroupStage& s) { return s.run_if && s.dest == dest; });
    return at == stages().end() ? -1 : static_cast<int>(at - stages().begin());
  }

  // A producer whose result is read at [i * extent of j + j] gets i and j as axes of its own: channels and images,
  // which are one axis of a pool.
  void part_axes(int copy) {
    for (int s = copy; s == copy || (s >= 0 && can_join(stages()[s])); --s)
      for (int p = s - 1; p >= 0 && can_join(stages()[p]); --p)
        while (part_axis(p, s)) continue;
  }

  bool part_axis(int producer, int reader) {
    const int dest = stages()[producer].dest;
    const std::vector<int64_t> extents = stages()[reader].stage.extents();
    const int axes = static_cast<int>(extents.size());
    for (const Expr* e : loads_of(stages()[reader].stage.body))
      for (size_t d = 0; e->tensor == dest && d < e->args.size(); ++d)
        for (int i = 0; i < axes; ++i)
          for (int j = 0; j < axes; ++j) {
            const ExprP both = axis(i) * index_constant(extents[j]) + axis(j);
            const bool all = extents[i] * extents[j] == stages()[producer].stage.type.shape[d];
            if (i == j || extents[i] == 1 || extents[j] == 1 || !all) continue;
            if (to_string(e->args[d]) == to_string(simplify(both, extents)))
              return part(producer, static_cast<int>(d), extents[j]);
          }
    return false;
  }

  // Axis d of a stage, and of its result, as (d / each, d % each); not where a contraction reads it.
  bool part(int producer, int d, int64_t each) {
    GroupStage& whole = stages()[producer];
    for (const GroupStage& stage : stages())
      if (stage.contraction && reads(stage, whole.dest)) return false;
    std::vector<ExprP> to;
    for (int a = 0; a < static_cast<int>(whole.stage.extents().size()); ++a) to.push_back(axis(a <= d ? a : a + 1));
    to[d] = axis(d) * index_constant(each) + axis(d + 1);
    GroupTensor& tensor = result_.group.tensors[whole.dest];
    for (Shape* shape : {&whole.stage.type.shape, &tensor.type.shape}) {
      (*shape)[d] /= each;
      shape->insert(shape->begin() + d + 1, each);
    }
    tensor.strides.insert(tensor.strides.begin() + d + 1, tensor.strides[d]);
    tensor.strides[d] *= each;
    whole.stage.body = simplify(substitute_axes(whole.stage.body, to), whole.stage.extents());
    for (GroupStage& reader : stages())
      for (ExprP* body : {&reader.stage.body, &reader.peak_of})
        if (*body) *body = simplify(parted(*body, whole.dest, d, each), reader.stage.extents());
    return true;
  }

  static ExprP parted(const ExprP& body, int tensor, int d, int64_t each) {
    return transform_loads(body, [&](const ExprP& e) -> ExprP {
      if (e->tensor != tensor) return e;
      std::vector<ExprP> at = e->args;
      at.insert(at.begin() + d + 1, at[d] % index_constant(each));
      at[d] = at[d] / index_constant(each);
      return load(e->tensor, e->dtype, at, e->guard, e->other);
    });
  }

  // The first of the stages right before a copy that its launch can compute; the copy itself where there are none.
  int first_of(int copy) {
    int first = copy;
    for (int s = copy - 1; s >= 0 && can_join(stages()[s]); --s)
      if (std::any_of(stages().begin() + s + 1, stages().begin() + copy + 1,
                      [&](const GroupStage& later) { return reads(later, stages()[s].dest); }))
        first = s;
    while (first < copy && !fits(first, copy)) ++first;
    return first;
  }

  bool can_join(const GroupStage& stage) {
    return !stage.contraction && !is_scan(stage.stage.combine) && !stage.peak_of && !stage.run_if &&
           stage.place.empty() && !finishes_contraction(stage);
  }

  // Whether the launch of a contraction computes a stage for nothing, as it has its elements in registers.
  bool finishes_contraction(const GroupStage& stage) {
    const auto loads = loads_of(stage.stage.body);
    return std::any_of(loads.begin(), loads.end(), [&](const Expr* e) {
      const bool own = std::all_of(e->args.begin(), e->args.end(),
                                   [](const ExprP& index) { return index->kind == Expr::Kind::axis; });
      return own && std::any_of(stages().begin(), stages().end(),
                                [&](const GroupStage& s) { return s.contraction && s.dest == e->tensor; });
    });
  }

  // Whether every lane of the copy can compute what it copies by itself.
  bool fits(int first, int copy) {
    const Frame alone = frame_over(result_.group, copy, copy), frame = frame_over(result_.group, first, copy);
    if (frame.shared.size() != alone.shared.size()) return false;
    try {
      if (plan_rows(result_.group, frame).inner > 0) return false;
      print_lanes(result_.group, frame, "f", {}, hardware_);
      return true;
    } catch (const Unsupported&) {
      return false;
    }
  }

  // The rare second copy computes again what it needs that is not in memory.
  void repeat(int first, int copy, int again) {
    std::vector<int> needed = {again};
    for (int s = copy - 1; s >= first; --s) {
      const int dest = stages()[s].dest;
      const bool read = std::any_of(needed.begin(), needed.end(), [&](int one) { return reads(stages()[one], dest); });
      if (read && !in_memory(dest, copy, again)) needed.push_back(s);
    }
    std::map<int, int> renamed;
    std::vector<GroupStage> made;
    for (size_t i = needed.size(); i-- > 1;) {
      GroupStage stage = stages()[needed[i]];
      GroupTensor tensor = result_.group.tensors[stage.dest];
      tensor.name = unused(tensor.name + "_again");
      result_.group.tensors.push_back(std::move(tensor));
      renamed[stage.dest] = static_cast<int>(result_.group.tensors.size()) - 1;
      stage.dest = renamed[stage.dest];
      stage.run_if = stages()[again].run_if;
      stage.stage.body = of_renamed(stage.stage.body, renamed);
      made.push_back(std::move(stage));
    }
    const int count = static_cast<int>(made.size());
    stages()[again].stage.body = of_renamed(stages()[again].stage.body, renamed);
    stages()[again].producers = count;
    stages().insert(stages().begin() + again, made.begin(), made.end());
    std::map<int, Products> products;
    for (auto& [s, one] : result_.products) products[s < again ? s : s + count] = std::move(one);
    result_.products = std::move(products);
  }

  bool in_memory(int tensor, int copy, int again) {
    const GroupTensor& to = result_.group.tensors[tensor];
    if (to.role == GroupTensor::Role::write || to.kept) return true;
    for (int s = copy + 1; s < static_cast<int>(stages().size()); ++s)
      if (s != again && reads(stages()[s], tensor)) return true;
    return false;
  }

  static ExprP of_renamed(const ExprP& body, const std::map<int, int>& renamed) {
    return transform_loads(body, [&](const ExprP& e) -> ExprP {
      const auto at = renamed.find(e->tensor);
      return at == renamed.end() ? e : load(at->second, e->dtype, e->args, e->guard, e->other);
    });
  }

  std::string unused(const std::string& wanted) {
    std::string name = wanted;
    const auto taken = [&](const GroupTensor& tensor) { return tensor.name == name; };
    const auto& tensors = result_.group.tensors;
    for (int n = 2; std::any_of(tensors.begin(), tensors.end(), taken); ++n) name = wanted + "_" + std::to_string(n);
    return name;
  }

  Prepared result_;
  const Numbers numbers_;
  const Hardware& hardware_;
};

}  // namespace

std::optional<CopyLaunch> copy_launch_of(const Group& group, int s) {
  for (int copy = static_cast<int>(group.stages.size()) - 1; copy >= s; --copy) {
    const GroupStage& stage = group.stages[copy];
    if ((stage.peak_of || stage.run_if) && copy - stage.producers <= s) return CopyLaunch{copy - stage.producers, copy};
  }
  return std::nullopt;
}

Prepared compute_in_copies(const Prepared& prepared, const Numbers& numbers, const Hardware& hardware) {
  return Joiner(prepared, numbers, hardware).run();
}

}  // namespace mtmc::triton
