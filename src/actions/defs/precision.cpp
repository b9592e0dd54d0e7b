// precision: an intermediate between two generated kernels is stored in half the bytes (arithmetic stays in f32), or a
// contraction's operands become numbers that the matrix units multiply faster. The judge decides whether the accuracy
// contract allows it.
#include <algorithm>
#include <map>

#include "actions/schedule.h"
#include "base/text.h"

namespace mtmc {
namespace {

constexpr DType kNarrow[] = {DType::f16, DType::bf16};

bool generated_only(const std::vector<const Kernel*>& kernels) {
  return std::all_of(kernels.begin(), kernels.end(), [](const Kernel* k) { return k->family != Family::library; });
}

// Results of f32 or more must be about as exact as the library's, which no value stored in half its bits can be.
Status worth_it(const Program& program) {
  std::vector<ValueId> results = program.outputs;
  for (const StateUpdate& state : program.states) results.push_back(state.value);
  for (ValueId id : results)
    if (id != kNoValue && is_float(program.value(id).type.dtype) && bytes(program.value(id).type.dtype) > 2)
      return refuse("precision", "results of this type must be more exact",
                    "%" + std::to_string(id) + " : " + to_string(program.value(id).type), "results in f16 or bf16");
  return ok_status();
}

Status allowed(const Program& program, ValueId id) {
  const std::string name = "%" + std::to_string(id);
  if (!program.has_value(id) || program.value(id).kind != ValueKind::result)
    return refuse("precision", "not an intermediate result", name);
  const Value& value = program.value(id);
  if (value.type.dtype != DType::f32 || value.storage != DType::f32)
    return refuse("precision", "not stored in f32", name + " in " + std::string(mtmc::name(value.storage)));
  if (std::count(program.outputs.begin(), program.outputs.end(), id) > 0 ||
      std::any_of(program.states.begin(), program.states.end(), [&](const StateUpdate& s) { return s.value == id; }))
    return refuse("precision", "the caller gets this value", name, "a value between two kernels");
  const auto makers = program.kernels_of(id);
  const auto written = program.writes(*makers.front());
  if (std::count(written.begin(), written.end(), id) == 0)
    return refuse("precision", "the value never reaches memory", name, "a value between two kernels");
  std::vector<const Kernel*> all = makers;
  for (const Node* user : program.users(id))
    for (const Kernel* kernel : program.kernels_of(user->outputs[0])) all.push_back(kernel);
  if (!generated_only(all))
    return refuse("precision", "a library call makes or reads the value", name, "a value between generated kernels");
  return ok_status();
}

// How a generated kernel multiplies: one of the `words` that the target knows for it.
Status may_multiply(const Kernel& kernel, const std::string& word, const std::vector<std::string>& words,
                    const ActionContext& context) {
  if (!context.target.reads("precision"))
    return refuse("precision", "this target multiplies in one way only", std::string(context.target.name));
  if (kernel.family == Family::library)
    return refuse("precision", "a library call multiplies as it does", kernel.name, "a generated kernel");
  const auto now = kernel.choices.find("precision");
  if (now != kernel.choices.end() && now->second == word)
    return refuse("precision", "the kernel multiplies in this way already", word);
  if (std::find(words.begin(), words.end(), word) == words.end())
    return refuse("precision", "not a way to multiply in this kernel", word, words.empty() ? "" : join(words, " or "));
  return ok_status();
}

std::vector<Action> enumerate(const Program& program, const ActionContext& context) {
  std::vector<Action> actions;
  std::map<const Kernel*, std::vector<std::string>> words;
  std::vector<std::string> all;
  for (const Kernel& kernel : program.kernels) {
    if (kernel.family == Family::library) continue;
    for (const std::string& word : words[&kernel] = context.target.precisions(program, kernel))
      if (std::find(all.begin(), all.end(), word) == all.end()) all.push_back(word);
  }
  for (const std::string& word : all) {
    const auto wanted = [&](const Program&, const Kernel& kernel) {
      return words.contains(&kernel) && may_multiply(kernel, word, words.at(&kernel), context).ok();
    };
    for (Action& action : one_per_class(program, "precision", isomorphism_classes(program, wanted), word))
      actions.push_back(std::move(action));
  }
  if (!worth_it(program).ok()) return actions;
  for (const Value& value : program.values)
    if (allowed(program, value.id).ok())
      for (DType narrow : kNarrow) actions.push_back({"precision", {{value.id}}, std::string(name(narrow))});
  return actions;
}

Result<Program> apply(const Program& program, const Action& action, const ActionContext& context) {
  if (!parse_dtype(action.detail)) {
    Program result = program;
    for (const auto& region : action.regions) {
      MTMC_TRY(Kernel* const kernel, kernel_of("precision", result, region));
      const std::vector<std::string> words = context.target.precisions(program, *kernel);
      MTMC_RETURN_IF_ERROR(may_multiply(*kernel, action.detail, words, context));
      forget_numbers(*kernel, context.target);
      kernel->choices["precision"] = action.detail;
      MTMC_RETURN_IF_ERROR(context.target.supports(result, *kernel, context.hardware));
    }
    return result;
  }
  const auto narrow = parse_dtype(action.detail);
  if (!narrow || std::find(std::begin(kNarrow), std::end(kNarrow), *narrow) == std::end(kNarrow))
    return refuse("precision", "not a storage type for this", action.detail, "f16 or bf16");
  MTMC_RETURN_IF_ERROR(worth_it(program));
  Program result = program;
  for (const auto& region : action.regions)
    for (ValueId id : region) {
      MTMC_RETURN_IF_ERROR(allowed(result, id));
      result.value(id).storage = *narrow;
      result.rewrites.push_back({"precision", "%" + std::to_string(id) + " stored in " + action.detail});
    }
  for (Kernel& kernel : result.kernels) {
    if (kernel.family == Family::library) continue;
    MTMC_RETURN_IF_ERROR(context.target.supports(result, kernel, context.hardware));
  }
  return result;
}

}  // namespace

namespace actions {
extern const ActionDef precision_def;
const ActionDef precision_def{.name = "precision",
                              .doc =
                                  "Store an intermediate in half the bytes, or multiply on faster units; flagged, and "
                                  "judged like everything else.",
                              .law = "k1 -> %t : f32 -> k2  becomes  k1 -> %t : f32 storage f16 -> k2",
                              .rewrites = true,
                              .enumerate = enumerate,
                              .apply = apply};
}  // namespace actions

}  // namespace mtmc
