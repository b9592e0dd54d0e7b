// Expressions over the tile of one Triton program. A program computes a tile of at most two dimensions, rows and
// columns; every axis of a launch is either one number a program (a scalar) or runs along one of them (a lane).
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "targets/frame.h"

namespace mtmc::triton {

// Thrown inside this folder only; print_triton_kernel turns it into an Error.
struct Unsupported {
  std::string what;
};

std::string dtype_text(DType dtype);
int64_t power_of_two(int64_t n);  // the least one that is not below n
inline int64_t blocks(int64_t extent, int64_t block) { return (extent + block - 1) / block; }

// A constant as Python writes it.
std::string number_text(const Expr& constant);
// What changes nothing when it is combined: 0 of sums, the least number of maxima.
ExprP neutral(Combine combine, DType dtype);

// The least and the largest value of an index expression, both inclusive, if they are known.
struct Bounds {
  int64_t least = 0, most = 0;
};
std::optional<Bounds> bounds_of(const ExprP& expr, const std::vector<int64_t>& extents);

// Dimensions that a value has, as bits.
constexpr unsigned kRows = 1, kColumns = 2;

// The lines of one function. What was computed is remembered by key until the loop in which it was computed ends.
class Writer {
 public:
  void line(const std::string& text) { lines_.push_back(std::string(4 * (scopes_.size()), ' ') + text); }
  void open(const std::string& text);  // a loop or branch begins
  void close();
  std::string fresh(const std::string& hint);  // a name not used yet
  struct Known {
    std::string text;
    unsigned dims = 0;
  };
  const Known* find(const std::string& key) const;
  void remember(const std::string& key, Known known) { scopes_.back()[key] = std::move(known); }
  std::string text() const;
  int number_of(const ExprP& expr) { return numbers_.of(expr); }  // alike expressions have the same

 private:
  ExprNumbers numbers_;
  std::vector<std::string> lines_;
  std::vector<std::map<std::string, Known>> scopes_ = {{}};
  std::map<std::string, int> names_;
};

// Axes that one dimension of the tile walks together, outermost first, and the names of the block of their flat index
// and of its mask (empty: no lane is dead). With block 1 it is a scalar.
struct Lane {
  std::vector<int> axes;
  std::string flat, mask;
  int64_t block = 1;
};

// The index space of an expression: axis a of the launch has extents[a].
struct Tile {
  std::string name;  // what is computed in one tile is not what is computed in another
  std::vector<int64_t> extents;
  std::map<int, std::string> scalars;  // axes that are one number
  bool widens = false;                 // those numbers are i32, and indices need i64
  Lane rows, columns;
  bool two_dimensional() const { return rows.block > 1 && columns.block > 1; }
  unsigned all() const { return (rows.block > 1 ? kRows : 0) | (columns.block > 1 ? kColumns : 0); }
  // A block along a dimension, with the brackets that broadcasting needs.
  std::string along(const std::string& block, unsigned dims) const;
  std::string shape(unsigned dims) const;  // "[64, 1]"
  std::string mask(unsigned dims) const;   // "" when all lanes are live
};

struct Value {
  std::string text;
  unsigned dims = 0;
};

// Prints expressions whose axes are those of the tile. Loads, and what occurs more than once, become lines of their
// own.
class ExprPrinter {
 public:
  ExprPrinter(Writer& out, const Group& group) : out_(out), group_(group) {}
  virtual ~ExprPrinter() = default;

  Value value(const ExprP& expr, const Tile& tile);
  // The address of an element as text, e.g. "x + (i0 * 64 + j)".
  Value address(int tensor, const std::vector<ExprP>& indices, const Tile& tile);
  Value index(const ExprP& expr, const Tile& tile);  // integer arithmetic with contiguous runs kept whole
  // Where `guard` is false nothing is stored; null: everywhere.
  void store(int tensor, const std::vector<ExprP>& indices, const Value& value, const Tile& tile,
             const ExprP& guard = nullptr);
  // Before loops over `axes`: lines that compute where in memory the loads begin, so that within the loops an address
  // is its beginning and what the loops add, constants where they are unrolled.
  void walk(const std::vector<const Expr*>& loads, const std::set<int>& axes, const Tile& tile);
  void walked() { walked_.clear(); }
  const std::vector<int>& used() const { return used_; }  // tensors of the group, in order of first use
  const std::vector<std::string>& helpers() const { return helpers_; }
  void use(int tensor);
  void need(const std::string& helper);

 protected:
  // A tensor that the launch itself computes, when the printer holds it in registers.
  virtual bool held(const Expr& load, const Tile& tile, Value& value) = 0;

 private:
  Value print(const ExprP& expr, const Tile& tile);
  Value load_value(const ExprP& expr, const Tile& tile);
  Value call_value(const ExprP& expr, const Tile& tile);
  Value run_of(const Lane& lane, unsigned dim, size_t from, size_t to, const Tile& tile);
  void lane_terms(const Lane& lane, unsigned dim, const std::map<int, int64_t>& coefficients, const Tile& tile,
                  std::vector<Value>& terms);
  Value named(const std::string& key, const std::string& hint, Value value);
  void count(const ExprP& expr);

  Writer& out_;
  const Group& group_;
  std::vector<int> used_;
  std::vector<std::string> helpers_;
  std::unordered_map<int, int> seen_;
  std::set<int> walked_;  // axes of the loops that are open
  bool mixed_ = false;    // the condition being printed joins a block and a scalar
};

// The source of a helper function that kernels call, by name: "_maximum". Empty: no such helper.
std::string helper_source(const std::string& name);

}  // namespace mtmc::triton
