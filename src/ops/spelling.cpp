// How an operator is written in torch: templates filled with operands and attributes.
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "ops/op.h"

namespace mtmc {

std::string torch_dtype(DType dtype) {
  switch (dtype) {
    case DType::b1: return "torch.bool";
    case DType::u8: return "torch.uint8";
    case DType::i8: return "torch.int8";
    case DType::i16: return "torch.int16";
    case DType::i32: return "torch.int32";
    case DType::i64: return "torch.int64";
    case DType::f16: return "torch.float16";
    case DType::bf16: return "torch.bfloat16";
    case DType::f32: return "torch.float32";
    case DType::f64: return "torch.float64";
  }
  return {};
}

namespace {

struct Python {
  std::string operator()(bool value) const { return value ? "True" : "False"; }
  std::string operator()(int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const {
    return std::isfinite(value) ? format_double(value) : "float('" + format_double(value) + "')";
  }
  std::string operator()(const std::string& value) const { return "'" + value + "'"; }
  std::string operator()(DType value) const { return torch_dtype(value); }
  std::string operator()(const std::vector<int64_t>& list) const {
    std::string text;
    for (int64_t value : list) text += (text.empty() ? "" : ", ") + std::to_string(value);
    return "[" + text + "]";
  }
};

std::string filled(std::string_view op, std::string_view spelling, const OpCall& call,
                   std::span<const std::string> args) {
  std::string text;
  for (size_t i = 0; i < spelling.size(); ++i) {
    if (spelling[i] != '{') {
      text += spelling[i];
      continue;
    }
    const size_t end = spelling.find('}', i);
    const std::string_view whole = spelling.substr(i + 1, end - i - 1);
    const std::string_view key = whole.substr(0, whole.find('|'));
    size_t which = 0;
    if (key == "*") {
      text += join({args.begin(), args.end()}, ", ");
    } else if (std::from_chars(key.data(), key.data() + key.size(), which).ec == std::errc()) {
      text += which < args.size() ? args[which] : "None";
    } else if (call.attrs.has(key)) {
      text += std::visit(Python{}, call.attrs.find(key)->second);
    } else {
      MTMC_CHECK(key.size() < whole.size(), std::string(op) + " without its attribute " + std::string(key));
      text += whole.substr(key.size() + 1);
    }
    i = end;
  }
  return text;
}

}  // namespace

std::string OpDef::torch(const OpCall& call, std::span<const std::string> args) const {
  return spell ? spell(call, args) : filled(name, spelling, call, args);
}

std::string OpDef::torch_in_place(const OpCall& call, std::span<const std::string> args) const {
  return filled(name, in_place.spelling, call, args);
}

}  // namespace mtmc
