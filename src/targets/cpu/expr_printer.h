// Prints scalar expressions as C++: scalar code, or vector code along one axis. Registers are float, double, long
// (i64), int (every other integer and index arithmetic in vectors) and bool or a lane mask.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/stage.h"
#include "targets/frame.h"

namespace mtmc {

// A printed expression: its text, register kind and whether it is a vector.
struct Printed {
  enum class Reg { f32, f64, i32, i64, b1 };
  std::string text;
  Reg reg = Reg::f32;
  bool vector = false;
};

class ExprPrinter {
 public:
  struct Context {
    const Group* group = nullptr;
    std::vector<std::string> axes;       // the C++ variable of each axis of the stage
    std::vector<int64_t> extents;        // of each axis
    int vector_axis = -1;                // the axis whose variable holds the first lane's index, or -1 for scalar code
    std::string lanes = "n";             // the variable that says how many lanes are live
    std::map<int, std::string> offsets;  // tensor -> flat offset to subtract (scratch that holds only a tile)
    std::map<int, std::vector<int64_t>> strides;  // tensor -> strides of its tile, where they differ from Group's
  };

  explicit ExprPrinter(Context context) : context_(std::move(context)) {}

  // The value as a scalar or vector of its own register kind. Shared subexpressions are appended to `lines` as
  // constants, one a line.
  Printed print(const ExprP& expr, std::vector<std::string>& lines);
  // The same, made a vector (or mask) of the stage's dtype.
  std::string vector_of(const ExprP& expr, std::vector<std::string>& lines);
  std::string scalar_of(const ExprP& expr, std::vector<std::string>& lines);
  // From here on `expr` is the variable `name`.
  void bind(const ExprP& expr, const Printed& name) { bound_[numbers_.of(expr)] = name; }
  // The flat element index of `tensor` for these per-dimension indices; as scalar code (lane 0 in vector code), with
  // its lane_stride.
  ExprP flat_index(int tensor, const std::vector<ExprP>& indices) const;
  std::string address(int tensor, const std::vector<ExprP>& indices, std::optional<int64_t>* stride);

 private:
  Printed print_node(const ExprP& expr, std::vector<std::string>& lines);
  Printed print_load(const ExprP& expr, std::vector<std::string>& lines);
  Printed print_call(const ExprP& expr, std::vector<std::string>& lines);
  Printed lane_by_lane(const ExprP& expr);
  void count(const ExprP& expr);
  std::string scalar_code(const ExprP& expr) const;

  Context context_;
  ExprNumbers numbers_;  // keys of the two below
  std::unordered_map<int, int> counts_;
  std::unordered_map<int, Printed> bound_;
  int next_ = 0;
  bool nested_ = false;  // the text stands inside another expression: nothing gets a name
};

// How far one lane moves a flat index over so many axes; nullopt: it is not affine in the vector axis.
std::optional<int64_t> lane_stride(const ExprP& flat, int vector_axis, int axes);

Printed::Reg reg_of(DType dtype);
// "float", "double", "long", "int", "bool": the C++ register type; and the C++ type in memory ("uint8_t" for b1,
// "_Float16", "bf16").
std::string reg_type(Printed::Reg reg);
std::string memory_type(DType dtype);

}  // namespace mtmc
