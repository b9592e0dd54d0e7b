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
  std::string text = "torch.ops." + call.attrs.text("call") + "(";
  const std::string& given = call.attrs.text("args");
  for (size_t i = 0; i < given.size(); ++i) {
    const size_t end = given[i] == '{' ? given.find('}', i) : std::string::npos;
    if (end == std::string::npos) {
      text += given[i];
      continue;
    }
    const size_t which = std::stoul(given.substr(i + 1, end - i - 1));
    MTMC_CHECK(which < args.size(), "a library call names operand " + std::to_string(which));
    text += args[which];
    i = end;
  }
  return text + ")";
}

}  // namespace

extern const OpFile library_def = {
    {.name = "library", .doc = "A torch operator without a definition of its own.", .infer = infer, .spell = spell}};

}  // namespace mtmc
