// Element types, shapes and tensor types: `f32[64,512]`.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mtmc {

enum class DType { b1, u8, i8, i16, i32, i64, f16, bf16, f32, f64 };

using Shape = std::vector<int64_t>;

std::string_view name(DType dtype);
std::optional<DType> parse_dtype(std::string_view text);
int bytes(DType dtype);
bool is_float(DType dtype);
inline bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }
inline bool is_int(DType dtype) { return dtype != DType::b1 && !is_float(dtype); }
// The dtype of `a op b` for two tensors of these dtypes (torch's promotion rules, without scalars).
DType promote(DType a, DType b);

struct TensorType {
  DType dtype = DType::f32;
  Shape shape;  // empty: a scalar tensor

  int rank() const { return static_cast<int>(shape.size()); }
  int64_t elements() const;
  int64_t size_bytes() const { return elements() * bytes(dtype); }
  bool operator==(const TensorType&) const = default;
};

// "f32[64,512]"; a scalar tensor is "f32[]".
std::string to_string(const TensorType& type);
std::optional<TensorType> parse_type(std::string_view text);

// Row-major strides in elements.
std::vector<int64_t> contiguous_strides(const Shape& shape);
int64_t product(const Shape& shape);
int64_t product(const Shape& shape, const std::vector<int>& axes);  // of these axes only
// The common shape of two operands by broadcasting; nullopt when they do not fit.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);

}  // namespace mtmc
