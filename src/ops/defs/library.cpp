// Any other torch call, carried as text: the safety net that makes every traceable module runnable.
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

}  // namespace

extern const OpFile library_def = {
    {.name = "library", .doc = "A torch operator without a definition of its own.", .infer = infer, .spell = spell}};

}  // namespace mtmc
