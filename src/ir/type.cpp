#include "ir/type.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace mtmc {
namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
  int bytes;
  bool is_float;
};

constexpr std::array<DTypeRow, 10> kDTypes = {{
    {DType::b1, "b1", 1, false},
    {DType::u8, "u8", 1, false},
    {DType::i8, "i8", 1, false},
    {DType::i16, "i16", 2, false},
    {DType::i32, "i32", 4, false},
    {DType::i64, "i64", 8, false},
    {DType::f16, "f16", 2, true},
    {DType::bf16, "bf16", 2, true},
    {DType::f32, "f32", 4, true},
    {DType::f64, "f64", 8, true},
}};

const DTypeRow& row(DType dtype) { return kDTypes[static_cast<size_t>(dtype)]; }

}  // namespace

std::string_view name(DType dtype) { return row(dtype).name; }
int bytes(DType dtype) { return row(dtype).bytes; }
bool is_float(DType dtype) { return row(dtype).is_float; }

std::optional<DType> parse_dtype(std::string_view text) {
  for (const DTypeRow& entry : kDTypes)
    if (entry.name == text) return entry.dtype;
  return std::nullopt;
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (is_float(a) != is_float(b)) return is_float(a) ? a : b;
  const auto either = [&](DType x, DType y) { return (a == x && b == y) || (a == y && b == x); };
  if (either(DType::f16, DType::bf16)) return DType::f32;
  if (either(DType::u8, DType::i8)) return DType::i16;
  return std::max(a, b);  // the enum lists each class in rising order
}

int64_t product(const Shape& shape) {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

int64_t product(const Shape& shape, const std::vector<int>& axes) {
  int64_t count = 1;
  for (const int axis : axes) count *= shape[static_cast<size_t>(axis)];
  return count;
}

int64_t TensorType::elements() const { return product(shape); }

std::string to_string(const TensorType& type) {
  std::string text(name(type.dtype));
  text += '[';
  for (size_t i = 0; i < type.shape.size(); ++i) text += (i > 0 ? "," : "") + std::to_string(type.shape[i]);
  return text + ']';
}

std::optional<TensorType> parse_type(std::string_view text) {
  const size_t open = text.find('[');
  if (open == std::string_view::npos || text.back() != ']') return std::nullopt;
  const auto dtype = parse_dtype(text.substr(0, open));
  if (!dtype) return std::nullopt;
  TensorType type{*dtype, {}};
  const char* at = text.data() + open + 1;
  const char* end = text.data() + text.size() - 1;
  while (at < end) {
    int64_t extent = 0;
    const auto [next, code] = std::from_chars(at, end, extent);
    if (code != std::errc() || extent < 0) return std::nullopt;
    type.shape.push_back(extent);
    at = next;
    if (at == end) break;
    if (*at++ != ',' || at == end) return std::nullopt;
  }
  return type;
}

std::vector<int64_t> contiguous_strides(const Shape& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()));
  for (size_t i = 0; i < result.size(); ++i) {
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    result[result.size() - 1 - i] = x == 1 ? y : x;
  }
  return result;
}

}  // namespace mtmc
