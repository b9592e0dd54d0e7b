#include "coder/builtin.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "coder/kernel_program.h"

namespace mtmc {
namespace {

using Numbers = std::map<std::string, int64_t>;

constexpr const char* kKind = "tuning";

// A module whose forward takes the kernel's reads and returns what it writes.
ModuleShell bare_shell(const Program& alone) {
  ModuleShell shell;
  shell.constructor_source = "class ModelNew(torch.nn.Module):\n    # mtmc: forward\n";
  for (const Value& value : alone.values)
    if (value.kind == ValueKind::input) shell.arguments.push_back(value.name);
  shell.description = "One version of a kernel that is being tuned";
  return shell;
}

std::vector<TensorType> input_types(const Program& alone) {
  std::vector<TensorType> types;
  for (const Value& value : alone.values)
    if (value.kind == ValueKind::input) types.push_back(value.type);
  return types;
}

bool tunable(const Kernel& kernel) { return kernel.family != Family::library; }

// Numbers that the state before the step already carries, by tuning problem.
std::map<std::string, Numbers> known_numbers(const Program* before, const Hardware& hardware) {
  std::map<std::string, Numbers> known;
  if (!before) return known;
  for (const Kernel& kernel : before->kernels)
    if (tunable(kernel)) known[tuning_key(*before, kernel, hardware)] = kernel.numbers;
  return known;
}

}  // namespace

Result<Implementation> BuiltinCoder::implement(const CoderRequest& request) {
  MTMC_CHECK(request.state.program != nullptr, "the builtin coder works on Programs, and this state has none");
  const Program& before = *request.state.program;
  const ActionContext context{hardware_, target_, options_.paper_only};
  MTMC_TRY(Program after, apply_action(before, request.action, context));

  MTMC_RETURN_IF_ERROR(refuse_same_code(before, after, request.state.code.text));
  std::map<std::string, Numbers> known = known_numbers(&before, hardware_);
  std::map<std::string, std::vector<size_t>> problems;  // tuning key -> kernels of `after`
  for (size_t i = 0; i < after.kernels.size(); ++i)
    if (tunable(after.kernels[i])) problems[tuning_key(after, after.kernels[i], hardware_)].push_back(i);
  const auto open =
      std::count_if(problems.begin(), problems.end(), [&](const auto& p) { return !known.count(p.first); });

  Json notes = Json::object();
  for (const auto& [key, kernels] : problems) {
    Numbers numbers;
    if (const auto at = known.find(key); at != known.end()) {
      numbers = at->second;
    } else {
      const Kernel& first = after.kernels[kernels.front()];
      MTMC_TRY(Chosen chosen, choose(after, first, key, options_.tune_seconds / static_cast<double>(open)));
      numbers = std::move(chosen.numbers);
      if (!chosen.note.empty()) notes[first.name] = Json::parse(chosen.note);
    }
    for (size_t i : kernels) after.kernels[i].numbers = numbers;
  }
  MTMC_TRY(Code code, target_.emit(after, hardware_, shell_));
  return Implementation{std::make_shared<const Program>(std::move(after)), std::move(code),
                        notes.empty() ? "" : Json({{"tuning", notes}}).dump()};
}

// A schedule that this target prints no differently is not worth tuning and judging.
Status BuiltinCoder::refuse_same_code(const Program& before, const Program& after, const std::string& text) const {
  Program untuned = after;
  for (Kernel& kernel : untuned.kernels)
    for (const Kernel& old : before.kernels)
      if (old.values == kernel.values) kernel.numbers = old.numbers;
  MTMC_TRY(const Code code, target_.emit(untuned, hardware_, shell_));
  if (code.text != text) return ok_status();
  return Error{"implementing the action", "the target prints the same code with it", "", ""};
}

Result<BuiltinCoder::Chosen> BuiltinCoder::choose(const Program& program, const Kernel& kernel, const std::string& key,
                                                  double seconds) {
  std::vector<Numbers> versions = target_.candidates(program, kernel, hardware_);
  if (versions.empty()) return Chosen{};
  if (versions.size() > static_cast<size_t>(options_.versions)) versions.resize(options_.versions);
  if (versions.size() == 1 || tuner_ == nullptr || seconds <= 0) return Chosen{versions.front(), ""};
  const std::string problem = key + "/" + Json(versions).dump();
  MTMC_TRY(const auto remembered, store_.recall(kKind, problem));
  if (remembered) {
    const Json json = Json::parse(*remembered);
    return Chosen{json.at("numbers").get<Numbers>(), json.at("note").dump()};
  }
  auto measured = measure(program, kernel, versions, seconds);
  if (!measured.ok()) return Chosen{versions.front(), Json({{"not tuned", measured.error().message()}}).dump()};
  MTMC_RETURN_IF_ERROR(store_.remember(
      kKind, problem, Json({{"numbers", measured->numbers}, {"note", Json::parse(measured->note)}}).dump()));
  return measured;
}

Result<BuiltinCoder::Chosen> BuiltinCoder::measure(const Program& program, const Kernel& kernel,
                                                   const std::vector<Numbers>& versions, double seconds) {
  Program alone = kernel_program(program, kernel);
  const ModuleShell shell = bare_shell(alone);
  std::vector<std::string> modules;
  std::vector<const Numbers*> tried;
  std::set<std::string> seen;
  for (const Numbers& numbers : versions) {
    alone.kernels.front().numbers = numbers;
    MTMC_TRY(const Code code, target_.emit(alone, hardware_, shell));
    if (!seen.insert(code.text).second) continue;  // other numbers, the same text
    modules.push_back(code.text);
    tried.push_back(&numbers);
  }
  MTMC_TRY(const std::vector<Measured> times, tuner_->measure(modules, input_types(alone), seconds));
  Json note = Json::array();
  size_t best = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    Json row = {{"numbers", *tried[i]}};
    if (times[i].ms) row["ms"] = *times[i].ms;
    if (!times[i].note.empty()) row["note"] = times[i].note;
    note.push_back(row);
    if (times[i].ms && (!times[best].ms || *times[i].ms < *times[best].ms)) best = i;
  }
  return Chosen{*tried[best], note.dump()};
}

}  // namespace mtmc
