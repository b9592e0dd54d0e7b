#include "coder/builtin.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "actions/schedule.h"
#include "base/hash.h"
#include "ir/kernel_program.h"

namespace mtmc {
namespace {

constexpr const char* kKind = "tuning";
constexpr double kLeastBuildSeconds = 3;  // for the versions of a kernel, however late it is

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

using Numbers = std::map<std::string, int64_t>;

// "of64x32x16" of "of64x32x16_m"; empty of "m".
std::string part_of(const std::string& key) {
  const size_t end = key.find('_');
  return end == std::string::npos ? "" : key.substr(0, end);
}

// The parts of a kernel in which these numbers are others.
std::set<std::string> changed_parts(const Numbers& from, const Numbers& to) {
  std::set<std::string> parts;
  const auto compare = [&](const Numbers& one, const Numbers& other) {
    for (const auto& [key, number] : one)
      if (const auto at = other.find(key); at == other.end() || at->second != number) parts.insert(part_of(key));
  };
  compare(from, to), compare(to, from);
  return parts;
}

// The first numbers, of each part the best that were measured: parts are launches of their own.
Numbers best_of_parts(const std::vector<Numbers>& tried, const std::vector<Measured>& times) {
  constexpr double kBetter = 0.99;  // than the first by chance
  std::map<std::string, size_t> best;
  for (size_t i = 1; i < tried.size(); ++i) {
    const std::set<std::string> parts = changed_parts(tried[0], tried[i]);
    if (parts.size() != 1 || !times[i].ms || *times[i].ms > kBetter * *times[0].ms) continue;
    const auto [known, is_new] = best.try_emplace(*parts.begin(), i);
    if (!is_new && *times[i].ms < *times[known->second].ms) known->second = i;
  }
  Numbers result = tried[0];
  for (const auto& [part, i] : best) {
    std::erase_if(result, [&](const auto& number) { return part_of(number.first) == part; });
    for (const auto& [key, number] : tried[i])
      if (part_of(key) == part) result[key] = number;
  }
  return result;
}

bool tunable(const Kernel& kernel) { return kernel.family != Family::library; }

// Numbers that the state before the step already carries, by tuning problem.
std::map<std::string, std::map<std::string, int64_t>> known_numbers(const Program* before, const Hardware& hardware) {
  std::map<std::string, std::map<std::string, int64_t>> known;
  if (!before) return known;
  for (const Kernel& kernel : before->kernels)
    if (tunable(kernel)) known[tuning_key(*before, kernel, hardware)] = kernel.numbers;
  return known;
}

}  // namespace

double BuiltinCoder::Plan::open() const {
  return static_cast<double>(std::count_if(kernels.begin(), kernels.end(),
                                           [&](const auto& problem) { return !known.contains(problem.first); }));
}

Result<BuiltinCoder::Plan> BuiltinCoder::plan(const CoderRequest& request) const {
  if (request.state.program == nullptr)
    return Error{"implementing the action", "the builtin coder works on Programs, and this code has none", "", ""};
  const Program& before = *request.state.program;
  const ActionContext context{hardware_, target_, options_.paper_only};
  MTMC_TRY(Program after, apply_action(before, request.action, context));
  if (!only_measures(before, after)) {
    MTMC_RETURN_IF_ERROR(refuse_same_code(before, after, request.state.code.text));
  } else if (!measures()) {
    return Error{"implementing the action", "only a measurement tells which numbers are faster", "",
                 "a machine for it"};
  }
  Plan plan{std::move(after), known_numbers(&before, hardware_), {}};
  for (size_t i = 0; i < plan.after.kernels.size(); ++i)
    if (tunable(plan.after.kernels[i]))
      plan.kernels[tuning_key(plan.after, plan.after.kernels[i], hardware_)].push_back(i);
  return plan;
}

Status BuiltinCoder::prepare(const CoderRequest& request) {
  const auto planned = plan(request);
  if (!planned.ok()) return ok_status();  // it will be refused when it is asked for
  for (const auto& [key, kernels] : planned->kernels) {
    if (planned->known.contains(key)) continue;
    const auto tried = versions(planned->after, planned->after.kernels[kernels.front()]);
    if (!tried.ok()) return ok_status();  // likewise
    if (!tunes(*tried)) continue;
    MTMC_TRY(const auto remembered, store_.recall(kKind, tried->problem));
    if (!remembered) MTMC_RETURN_IF_ERROR(tuner_->prepare(tried->modules, tried->inputs));
  }
  return ok_status();
}

Result<Implementation> BuiltinCoder::implement(const CoderRequest& request) {
  MTMC_TRY(Plan planned, plan(request));
  Program& after = planned.after;
  Json notes = Json::object();
  for (const auto& [key, kernels] : planned.kernels) {
    Numbers numbers;
    if (const auto at = planned.known.find(key); at != planned.known.end()) {
      numbers = at->second;
    } else {
      const Kernel& first = after.kernels[kernels.front()];
      const double left = request.seconds_left ? std::max(kLeastBuildSeconds, request.seconds_left()) : kBuildSeconds;
      MTMC_TRY(Chosen chosen, choose(after, first, options_.tune_seconds / planned.open(), left));
      numbers = std::move(chosen.numbers);
      if (!chosen.note.empty()) notes[first.name] = Json::parse(chosen.note);
    }
    for (size_t i : kernels) after.kernels[i].numbers = numbers;
  }
  MTMC_TRY(Code code, target_.emit(after, hardware_, shell_));
  return Implementation{std::make_shared<const Program>(std::move(after)), std::move(code),
                        notes.empty() ? "" : Json({{"tuning", notes}}).dump()};
}

// Whether a step leaves everything but the numbers of kernels as it is.
bool BuiltinCoder::only_measures(Program before, Program after) const {
  for (Program* program : {&before, &after})
    for (Kernel& kernel : program->kernels) forget_numbers(kernel, target_);
  return before == after;
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

Result<BuiltinCoder::Versions> BuiltinCoder::versions(const Program& program, const Kernel& kernel) const {
  std::vector<Numbers> all = target_.candidates(program, kernel, hardware_);
  std::map<std::set<std::string>, int> others;  // than the first, by what they change
  if (!all.empty())
    std::erase_if(all, [&, first = all.front()](const Numbers& numbers) {
      return ++others[changed_parts(first, numbers)] >= options_.versions;
    });
  Program alone = kernel_program(program, kernel);
  const ModuleShell shell = bare_shell(alone);
  Versions versions;
  versions.inputs = input_types(alone);
  std::set<std::string> seen;
  std::string everything = hardware_.name;
  for (Numbers& numbers : all) {
    alone.kernels.front().numbers = numbers;
    MTMC_TRY(Code code, target_.emit(alone, hardware_, shell));
    if (!seen.insert(code.text).second) continue;  // other numbers, the same text
    everything += "\n" + code.text;
    versions.numbers.push_back(std::move(numbers));
    versions.modules.push_back(std::move(code.text));
  }
  versions.problem = sha256(everything);
  return versions;
}

bool BuiltinCoder::tunes(const Versions& versions) const { return versions.modules.size() > 1 && measures(); }

Result<BuiltinCoder::Chosen> BuiltinCoder::choose(const Program& program, const Kernel& kernel, double seconds,
                                                  double build_seconds) {
  MTMC_TRY(const Versions tried, versions(program, kernel));
  if (tried.numbers.empty()) return Chosen{};
  if (!tunes(tried)) return Chosen{tried.numbers.front(), ""};
  MTMC_TRY(const auto remembered, store_.recall(kKind, tried.problem));
  if (remembered) {
    const Json json = Json::parse(*remembered);
    return Chosen{json.at("numbers").get<Numbers>(), json.at("note").dump()};
  }
  auto measured = measure(tried, seconds, build_seconds);
  if (!measured.ok()) return Chosen{tried.numbers.front(), Json({{"not tuned", measured.error().message()}}).dump()};
  const Json note = Json::parse(measured->note);
  // Where none has a time something went wrong that may not do so again, and whoever has longer builds more.
  const bool any = std::any_of(note.begin(), note.end(), [](const Json& row) { return row.contains("ms"); });
  const bool all = build_seconds >= kBuildSeconds || std::none_of(note.begin(), note.end(), [](const Json& row) {
                     return row.value("note", "") == kNotInTime;
                   });
  if (any && all)
    MTMC_RETURN_IF_ERROR(
        store_.remember(kKind, tried.problem, Json({{"numbers", measured->numbers}, {"note", note}}).dump()));
  return measured;
}

Result<BuiltinCoder::Chosen> BuiltinCoder::measure(const Versions& tried, double seconds, double build_seconds) {
  MTMC_TRY(const std::vector<Measured> times, tuner_->measure(tried.modules, tried.inputs, seconds, build_seconds));
  Json note = Json::array();
  size_t best = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    Json row = {{"numbers", tried.numbers[i]}};
    if (times[i].ms) row["ms"] = *times[i].ms;
    if (!times[i].note.empty()) row["note"] = times[i].note;
    note.push_back(row);
    if (times[i].ms && (!times[best].ms || *times[i].ms < *times[best].ms)) best = i;
  }
  if (!times[0].ms) return Chosen{tried.numbers[best], note.dump()};
  Numbers parts = best_of_parts(tried.numbers, times);
  const bool several = changed_parts(tried.numbers[0], parts).size() > 1;
  if (several) note.push_back({{"numbers", parts}, {"note", "the best of each part"}});
  return Chosen{several ? std::move(parts) : tried.numbers[best], note.dump()};
}

extern const CoderDef builtin_def;
const CoderDef builtin_def{"builtin", "applies the action to the Program, tunes what it changed and prints it", "",
                           [](const CoderContext& c) -> Result<std::unique_ptr<Coder>> {
                             if (c.target.handwritten)
                               return Error{"opening the coder builtin", "it prints no kernels for this target",
                                            std::string(c.target.name),
                                            "--coder llm, or any that writes free code; or --target triton"};
                             return std::make_unique<BuiltinCoder>(c.target, c.hardware, c.shell, c.store, c.tuner,
                                                                   BuiltinOptions{.paper_only = c.paper_only});
                           }};

}  // namespace mtmc
