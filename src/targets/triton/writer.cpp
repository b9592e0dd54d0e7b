#include "base/text.h"
#include "targets/triton/launch.h"

namespace mtmc::triton {

std::string dtype_text(DType dtype) {
  switch (dtype) {
    case DType::b1: return "tl.int1";
    case DType::u8: return "tl.uint8";
    case DType::i8: return "tl.int8";
    case DType::i16: return "tl.int16";
    case DType::i32: return "tl.int32";
    case DType::i64: return "tl.int64";
    case DType::f16: return "tl.float16";
    case DType::bf16: return "tl.bfloat16";
    case DType::f32: return "tl.float32";
    case DType::f64: return "tl.float64";
  }
  return "";
}

int64_t power_of_two(int64_t n) {
  int64_t p = 1;
  while (p < n) p *= 2;
  return p;
}

void Writer::open(const std::string& text) {
  line(text);
  scopes_.emplace_back();
}

void Writer::close() { scopes_.pop_back(); }

std::string Writer::fresh(const std::string& hint) {
  const int n = names_[hint]++;
  return n == 0 ? hint : fresh(hint + "_" + std::to_string(n));
}

const Writer::Known* Writer::find(const std::string& key) const {
  for (size_t i = scopes_.size(); i-- > 0;)
    if (const auto at = scopes_[i].find(key); at != scopes_[i].end()) return &at->second;
  return nullptr;
}

std::string TritonLaunch::source(bool waits) const {
  return functions + "@triton.jit\ndef " + name + "(" + join(parameters, ", ") + "):\n" +
         (waits ? "    _wait()\n" : "") + body + "\n";
}

std::string Writer::text() const { return join(lines_, "\n"); }

std::string Tile::along(const std::string& block, unsigned dims) const {
  if (!two_dimensional() || dims == 0 || dims == (kRows | kColumns)) return block;
  return block + (dims == kRows ? "[:, None]" : "[None, :]");
}

std::string Tile::shape(unsigned dims) const {
  if (dims == 0) return "[]";
  if (!two_dimensional()) return "[" + std::to_string(dims == kRows ? rows.block : columns.block) + "]";
  return "[" + std::to_string(dims & kRows ? rows.block : 1) + ", " +
         std::to_string(dims & kColumns ? columns.block : 1) + "]";
}

std::string Tile::mask(unsigned dims) const {
  std::string text;
  for (const auto& [lane, dim] : {std::pair(&rows, kRows), std::pair(&columns, kColumns)})
    if ((dims & dim) && !lane->mask.empty()) text += (text.empty() ? "" : " & ") + along(lane->mask, dim);
  return text;
}

}  // namespace mtmc::triton
