// Any other torch call, carried as text: the safety net that makes every traceable module runnable.
#include <algorithm>

#include "base/text.h"
#include "ops/build.h"

namespace mtmc {
namespace {

Result<std::vector<TensorType>> infer(const OpCall& call) {
  std::vector<TensorType> types;
  for (const std::string& text : split(call.attrs.text("types"), ' ')) {
    const auto type = parse_type(text);
    if (!type) return refusal(call, "not a type", text, "types such as f32[4,2] i64[4,2]");
    types.push_back(*type);
  }
  return types;
}

std::string spell(const OpCall& call, std::span<const std::string> args) {
  return "torch.ops." + call.attrs.text("call") + "(" + with_places(call.attrs.text("args"), args) + ")";
}

// Torch's calls that replace elements of their first argument, and have a form that does so where they lie: of
// aten.scatter.src aten.scatter_.src.
constexpr std::string_view kWrites[] = {
    "fill",           "index_add", "index_copy", "index_fill",  "index_put",      "index_reduce", "masked_fill",
    "masked_scatter", "put",       "scatter",    "scatter_add", "scatter_reduce", "zero"};

std::string write(const OpCall& call, std::span<const std::string> args) {
  const std::string &overload = call.attrs.text("call"), &text = call.attrs.text("args");
  const std::vector<std::string> names = split(overload, '.');
  const bool known =
      names.size() == 3 && std::find(std::begin(kWrites), std::end(kWrites), names[1]) != std::end(kWrites);
  const bool first = text.starts_with("{0}") && (text.size() == 3 || text[3] == ',');
  if (!known || !first || text.find("{0}", 3) != std::string::npos || call.attrs.has(kLinesBefore)) return {};
  return "torch.ops." + names[0] + "." + names[1] + "_." + names[2] + "(" + with_places(text, args) + ")";
}

}  // namespace

extern const OpFile library_def = {{.name = "library",
                                    .doc = "A torch operator without a definition of its own.",
                                    .infer = infer,
                                    .spell = spell,
                                    .write = write}};

}  // namespace mtmc
