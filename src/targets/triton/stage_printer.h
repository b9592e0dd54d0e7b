// What printers of several stages share: a stage's expressions over the axes of the launch, values that stay in
// registers, and where results are stored.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "targets/triton/launch.h"

namespace mtmc::triton {

// Has some tensor more elements than an i32 counts?
bool is_wide(const Group& group);

class StagePrinter : public ExprPrinter {
 protected:
  // Of the stages first..last of a group, as the function `name`. `axes_` and `extents_` are set before anything is
  // printed.
  StagePrinter(const Group& group, int first, int last, std::string name);

  const Stage& stage(int s) const { return group_.stages[s].stage; }
  int dest(int s) const { return group_.stages[s].dest; }
  ExprP canonical(int s, const ExprP& e) const;  // over the axes of the launch
  ExprP body(int s) const { return canonical(s, stage(s).body); }
  std::vector<ExprP> own_indices(int s) const;
  // Whether a stage's result is needed in memory.
  bool stored(int s) const;

  bool is_held(int s) const { return out_.find("held:" + std::to_string(dest(s))) != nullptr; }
  void hold(int s, const Value& value) { out_.remember("held:" + std::to_string(dest(s)), {value.text, value.dims}); }
  // Names a stage's value, which was computed as `computed`, and holds it.
  Value define(int s, Value value, DType computed);
  // Stores a stage's value in its place.
  void put(int s, const Value& value, const Tile& tile);
  // Both, where somebody needs it in memory, once; `again`: each time.
  void keep(int s, Value value, DType computed, const Tile& tile, bool again = false);
  // Stores the largest value, in lanes that live, of what the last stage is asked for (GroupStage::peak_of).
  void store_peak(const Value& largest, const Tile& tile, const std::string& program);
  // From now on an axis of the launch is this expression of its axes.
  void stand_in(int axis, const ExprP& e) { stand_ins_[axis] = simplify(e, extents_); }
  // A value of these stages that is read before it is held: computed now, or refused.
  virtual void missing(int s);
  bool held(const Expr& load, const Tile& tile, Value& value) override;

  // The lines of a lane's block and mask. `covers`: of what `start` is a multiple, where that is more than the block.
  void open_lane(Lane& lane, const std::string& name, const std::string& start, int64_t count, int64_t covers = 0);
  TritonLaunch finished(int64_t programs, int64_t warps, int64_t stages) const;

  const Group& group_;
  const int first_, last_;
  Writer out_;
  std::vector<int64_t> extents_;          // of the axes of the launch
  std::map<int, std::vector<int>> axes_;  // stage -> axis of the launch for each of its axes; -1: an extent of 1
  bool wide_ = false;                     // is_wide

 private:
  ExprP axis_of(int s, int a) const;  // axis a of stage s over the axes of the launch

  std::string name_;
  std::map<int, ExprP> stand_ins_;
  std::set<int> written_;  // stages whose store is printed
};

}  // namespace mtmc::triton
