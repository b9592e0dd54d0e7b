// Prints a frame without a contraction: rows and columns of one tile. The columns are either all resident, or walked in
// blocks, once for every level of reductions that need another's result.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "targets/triton/rows_plan.h"
#include "targets/triton/stage_printer.h"

namespace mtmc::triton {

class RowsPrinter : public StagePrinter {
 public:
  RowsPrinter(const Group& group, const Frame& frame, std::string name, const Numbers& numbers,
              const Hardware& hardware);
  TritonLaunch run();

 protected:
  void missing(int s) override;

 private:
  // What a reduction has so far: one value a lane, and for argmax its place.
  struct Partial {
    std::string value, place;
    unsigned dims = 0;
  };

  bool reduces_columns(int s) const { return is_reduction(stage(s).combine) && !plan_.sequential[s - first_]; }
  bool has_columns(int s) const;
  bool computes(int tensor) const;  // this launch, its elements
  unsigned spatial_dims(int s) const;

  void header();
  void resident();
  void looped();
  void pass(int now);
  void keep(int s, const Value& value);
  void compute(int s);
  std::string open_walk(int axis, bool unrolled);
  Value computed(int s);
  Value sequential(int s);
  Value scanned(int s, const Value& value);
  Value multiplied_in_turn(int s, const Value& value);
  DType carried_in(int s) const;  // the type of a scan's running result
  Value filled(const Value& value, unsigned dims, DType dtype) const;
  Partial start(int s, unsigned dims);
  void add(int s, const Partial& partial, Value value, const std::string& place, const std::string& mask);
  Value reduced(int s, const Partial& partial);
  std::vector<int> levels() const;
  ExprP resolved(int s) const;
  int shifted_by(int s) const;
  void add_online(int largest, const Partial& most, const Partial& total);
  int64_t online_lanes() const;
  void finish_online(int largest, int sum, const Partial& most, const Partial& total);

  RowsPlan plan_;
  Tile tile_;
  std::string program_;  // the name of its number
  int64_t programs_ = 1, warps_ = 4;
  int64_t rare_programs_;  // of a launch that mostly has nothing to do
  bool loops_ = false;
  int64_t stages_ = 1;  // of the pipeline of its loops
  std::map<int, std::string> carries_;
  std::map<int, int> online_;  // sum of exponentials -> the maximum that shifts them
};

}  // namespace mtmc::triton
