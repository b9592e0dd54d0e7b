#include "targets/triton/layout_pass.h"

#include <algorithm>

#include "targets/triton/packer.h"

namespace mtmc::triton {
namespace {

// Magnitudes up to 2^9 become at most 2^15, below f16's largest; what is 2^-17 of the least largest magnitude is still
// above the subnormal numbers.
constexpr double kUsual = 64, kMost = 512, kLeast = 0.125;

class OnePass {
 public:
  OnePass(const Group& group, const ScaledCopy& copy, const Hardware& hardware)
      : group_(group), ids_(copy), hardware_(hardware) {}

  Group run() {
    const GroupStage *largest = stage_of(ids_.largest), *scale = stage_of(ids_.scale), *copy = stage_of(ids_.copy);
    if (!largest || !scale || !copy) return group_;
    Group result = group_;
    result.stages.clear();
    for (const GroupStage& stage : group_.stages) {
      if (stage.dest == ids_.largest) continue;
      if (stage.dest == ids_.copy) {
        result.stages.push_back(again(stage));
        continue;
      }
      if (stage.dest == ids_.scale) {
        result.stages.push_back(at_once(*copy, result));
        result.stages.push_back(of_peaks(*largest, result.tensors[result.stages.back().peak_tensor]));
        result.stages.back().stage.body = load(result.stages.end()[-2].peak_tensor, DType::f32, {axis(0)});
      }
      result.stages.push_back(stage.dest == ids_.scale ? usual(stage) : stage);
    }
    return result;
  }

 private:
  const GroupStage* stage_of(int tensor) const {
    const auto at = std::find_if(group_.stages.begin(), group_.stages.end(),
                                 [&](const GroupStage& stage) { return stage.dest == tensor; });
    return at == group_.stages.end() ? nullptr : &*at;
  }
  ExprP with_scale(const ExprP& body, double value) const {
    return transform_loads(body, [&](const ExprP& e) { return e->tensor == ids_.scale ? number(value) : e; });
  }
  ExprP scale() const { return load(ids_.scale, DType::f32, {}); }

  // The copy with the usual scale, and the largest magnitude of each program's part.
  GroupStage at_once(const GroupStage& copy, Group& result) const {
    GroupStage made = copy;
    made.stage.body = with_scale(copy.stage.body, kUsual);
    const ExprP source = copy.stage.body->args[0]->args[0];  // of cast(f16, source * scale)
    made.peak_of = magnitude(source);
    made.peak_tensor = static_cast<int>(result.tensors.size());
    result.tensors.push_back(
        {GroupTensor::Role::scratch, kNoValue, result.tensors[ids_.largest].name + "_of", {}, {}, false});
    Group alone = result;
    alone.stages = {made};
    const int64_t programs = print_rows(alone, frame_over(alone, 0, 0), "f", {}, hardware_).programs;
    result.tensors.back().type = {DType::f32, {programs}};
    result.tensors.back().strides = {1};
    return made;
  }

  static GroupStage of_peaks(const GroupStage& largest, const GroupTensor& peaks) {
    GroupStage made = largest;
    made.stage.reduce = peaks.type.shape;
    return made;
  }

  GroupStage usual(const GroupStage& scale) const {
    GroupStage made = scale;
    const ExprP largest = load(ids_.largest, DType::f32, {});
    const ExprP suits =
        call(Fn::logical_and, {call(Fn::ge, {largest, number(kLeast)}), call(Fn::lt, {largest, number(kMost)})});
    made.stage.body = select(suits, number(kUsual), scale.stage.body);
    return made;
  }

  GroupStage again(const GroupStage& copy) const {
    GroupStage made = copy;
    made.run_if = call(Fn::ne, {scale(), number(kUsual)});
    return made;
  }

  const Group& group_;
  const ScaledCopy ids_;
  const Hardware& hardware_;
};

}  // namespace

Group copy_in_one_pass(const Group& group, const std::vector<ScaledCopy>& copies, const Hardware& hardware) {
  Group result = group;
  for (const ScaledCopy& copy : copies) result = OnePass(result, copy, hardware).run();
  return result;
}

}  // namespace mtmc::triton
