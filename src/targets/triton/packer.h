// What packing operands of contractions has in common: new stages, scales, and contractions on what was packed.
#pragma once
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "targets/triton/prepare.h"

namespace mtmc::triton {

inline ExprP number(double value) { return constant(DType::f32, value); }
inline ExprP finite(const ExprP& x) {
  return call(Fn::lt, {call(Fn::abs, {x}), number(std::numeric_limits<double>::infinity())});
}
inline ExprP magnitude(const ExprP& x) { return select(finite(x), call(Fn::abs, {x}), number(0)); }

std::vector<ExprP> axes_to(int count);
// What must hold for an operand that is a load not to be zero; empty: nothing.
std::vector<ExprP> guards_of(const ExprP& operand);
// A power of two that brings the largest finite magnitude of a row just below 2^14.
ExprP scale_of(const ExprP& largest);

class Packer {
 protected:
  Packer(const Group& group, std::string precision, const Hardware& hardware);

  std::string way(const GroupStage& stage) const { return way_of(stage, precision_); }
  static bool is_half(const ExprP& e);  // f16 or bf16, read as f32
  static bool of_half(const GroupStage& stage);

  // A number as the sum of two in f16. What is not finite goes to the low part, and its sign to the high part: the low
  // part is multiplied once, by the other operand's high part.
  struct Parts {
    ExprP high, low;
  };
  static Parts parts_of(const ExprP& scaled);
  void put_behind(int high, int low);  // in memory

  void push(const GroupStage& stage) { result_.group.stages.push_back(stage); }
  int scratch(const std::string& name, DType dtype, const Shape& shape);
  // Columns whose products are others' (phases of a transposed convolution) are matrices of their own.
  static void part_columns(GroupStage& made, const std::vector<ExprP>& live);
  // A stage that belongs to `of`; the tensor it defines. One that was made before is not made again: branches that
  // multiply the same tensor share its copy. `room`: the tensor's shape, where it is larger than the stage's (of a copy
  // that is shared, the first one's: who reads it asks the tensor).
  int stage(const GroupStage& of, const std::string& name, TensorType type, std::vector<int64_t> reduce,
            Combine combine, ExprP body, const Shape& room = {});
  // The contraction on packed operands, then their scales undone.
  void multiply(const GroupStage& of, const ExprP& left, const ExprP& right, bool two_part = false);
  // Its two steps: the tensor of its results, and `of` from them.
  int contract(const GroupStage& of, const ExprP& left, const ExprP& right);
  void undo_scales(const GroupStage& of, int product);

  std::string precision_;
  const Hardware& hardware_;
  Prepared result_;
  std::set<std::string> names_;
  std::map<std::string, int> made_;  // what a stage computes -> its tensor
  // Of the operands packed for the next `multiply`:
  std::vector<ExprP> scales_;
  std::vector<int> apart_;  // axes of M or N that are no run of memory with the others: a matrix each, as of a batch
};

}  // namespace mtmc::triton
