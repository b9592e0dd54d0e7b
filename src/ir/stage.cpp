#include "ir/stage.h"

#include <array>

namespace mtmc {

std::string_view name(Combine combine) {
  static constexpr std::array<std::string_view, 9> kNames = {"none",   "sum",    "prod",     "max",      "min",
                                                             "argmax", "argmin", "scan_sum", "scan_prod"};
  return kNames[static_cast<size_t>(combine)];
}

std::vector<int64_t> Stage::extents() const {
  std::vector<int64_t> all = type.shape;
  all.insert(all.end(), reduce.begin(), reduce.end());
  return all;
}

std::string to_string(const Stage& stage) {
  std::string text = stage.name + " : " + to_string(stage.type);
  if (stage.combine != Combine::none) text += " " + std::string(name(stage.combine));
  if (is_scan(stage.combine)) text += " along a" + std::to_string(stage.scan_axis);
  if (!stage.reduce.empty()) {
    text += " over [";
    for (size_t i = 0; i < stage.reduce.size(); ++i) text += (i > 0 ? "," : "") + std::to_string(stage.reduce[i]);
    text += "]";
  }
  return text + " = " + to_string(stage.body);
}

}  // namespace mtmc
