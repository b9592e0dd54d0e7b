// Running sums and products along the columns of a tile.
#include "targets/triton/rows_printer.h"

namespace mtmc::triton {

namespace {

// Elements of a row whose running sums are made in double: what subtracts them from each other (Mamba's decays) is off
// by what they are, and short rows cost next to nothing.
constexpr int64_t kInDouble = 1024;

}  // namespace

Value RowsPrinter::scanned(int s, const Value& value) {
  if (stage(s).combine == Combine::scan_prod && is_float(stage(s).body->dtype)) return multiplied_in_turn(s, value);
  const std::string where = tile_.two_dimensional() ? ", axis=1" : ", axis=0";
  const Value all = filled(value, (value.dims & kRows) | kColumns, stage(s).body->dtype);
  const std::string function = stage(s).combine == Combine::scan_sum ? "tl.cumsum(" : "tl.cumprod(";
  const std::string name = out_.fresh("t");
  const auto carry = carries_.find(s);
  const bool in_double =
      carry == carries_.end() && stage(s).body->dtype == DType::f32 && plan_.column_count <= kInDouble;
  out_.line(name + " = " + (in_double ? "(" + all.text + ").to(tl.float64)" : all.text));
  Value result{function + name + where + (in_double ? ").to(tl.float32)" : ")"), all.dims};
  if (carry == carries_.end()) return result;
  const bool sum = stage(s).combine == Combine::scan_sum;
  const std::string mask = tile_.columns.mask;
  const std::string live =
      mask.empty() ? name : "tl.where(" + tile_.along(mask, kColumns) + ", " + name + ", " + (sum ? "0" : "1") + ")";
  const std::string scan = out_.fresh("scan");
  out_.line(scan + " = " + carry->second + (sum ? " + " : " * ") + result.text);
  if (!sum) need("_multiply");
  const std::string whole =
      sum ? "tl.sum(" + live + where + (tile_.two_dimensional() ? ", keep_dims=True)" : ")")
          : "tl.reduce(" + live + (tile_.two_dimensional() ? ", 1, _multiply, keep_dims=True)" : ", 0, _multiply)");
  out_.line(carry->second + (sum ? " += " : " *= ") + whole);
  return {scan, result.dims};
}

// Products in a tree leave the range where they do not in turn. Those of single floats are doubles, whose range takes
// eight of the largest of them to leave. Beside a product that is 0 by then one that is too large gives NaN for 0. NaN
// stays in whatever it is multiplied with, so that without one the tree's products are those in turn; only else they
// are made again with what tells 0 and inf from what has become so. One reduction finds what is carried on, the last
// product, and whether there is NaN: each costs the wait of all warps.
Value RowsPrinter::multiplied_in_turn(int s, const Value& value) {
  Value all = filled(value, (value.dims & kRows) | kColumns, stage(s).body->dtype);
  const DType own = stage(s).body->dtype, wide = carried_in(s);
  if (wide != own) all.text = "(" + all.text + ").to(" + dtype_text(wide) + ")";
  for (const char* helper : {"_multiply", "_special", "_multiply_in_turn"}) need(helper);
  const std::string t = out_.fresh("t"), scan = out_.fresh("scan"), special = out_.fresh("special");
  const bool rows = tile_.two_dimensional();
  const std::string axis = rows ? "1" : "0", lost = scan + " != " + scan;
  const auto carry = carries_.find(s);
  const bool carried = carry != carries_.end();
  const std::string block = std::to_string(tile_.columns.block), lanes = "tl.arange(0, " + block + ")",
                    is_last = "(" + tile_.along(lanes, kColumns) + " == " + block + " - 1)";
  const auto sum_where = [&](const std::string& condition) {
    return "tl.sum(tl.where(" + condition + ", " + scan + ", 0), " + axis + (rows ? ", keep_dims=True)" : ")");
  };
  out_.line(t + " = " + all.text);
  out_.line(scan + " = " + (carried ? carry->second + " * " : "") + "tl.associative_scan(" + t + ", " + axis +
            ", _multiply)");
  const std::string last = carried ? out_.fresh("last") : "";
  if (carried) out_.line(last + " = " + sum_where(is_last + " | (" + lost + ")"));
  const std::string is_lost = carried ? last + " != " + last : lost;
  out_.open("if " + (carried && !rows ? is_lost : "tl.max((" + is_lost + ").to(tl.int32)) > 0") + ":");
  out_.line(scan + ", " + special + " = tl.associative_scan((" + t + ", _special(" + t + ")), " + axis +
            ", _multiply_in_turn)");
  if (carried) {
    out_.line(scan + ", " + special + " = _multiply_in_turn(" + carry->second + ", " + special + ", " + scan + ", " +
              special + ")");
    out_.line(last + " = " + sum_where(is_last));
  }
  out_.close();
  if (carried) out_.line(carry->second + " = " + last);
  return {wide == own ? scan : scan + ".to(" + dtype_text(own) + ")", all.dims};
}

DType RowsPrinter::carried_in(int s) const {
  const DType own = stage(s).body->dtype;
  return stage(s).combine == Combine::scan_prod && own == DType::f32 ? DType::f64 : own;
}

}  // namespace mtmc::triton
