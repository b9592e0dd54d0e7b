#include <algorithm>

#include "actions/schedule.h"

namespace mtmc {
namespace {

std::vector<std::vector<std::string>> runs(const Program& program, const ActionContext& context) {
  std::vector<std::vector<std::string>> found;
  if (context.target.graphs) {
    if (!program.captures.empty()) return {};
    size_t launches = 0;
    std::vector<std::string> all;
    const Links links(program);
    for (const Kernel& kernel : program.kernels) {
      launches += !is_view_kernel(links, kernel);
      all.push_back(kernel.name);
    }
    if (launches > 0) found.push_back(std::move(all));
    return found;
  }
  std::vector<std::string> run;
  const auto flush = [&] {
    if (run.size() > 1 && std::find(program.captures.begin(), program.captures.end(), run) == program.captures.end())
      found.push_back(run);
    run.clear();
  };
  for (const Kernel& kernel : program.kernels) {
    if (kernel.family == Family::library) {
      flush();
    } else {
      run.push_back(kernel.name);
    }
  }
  flush();
  return found;
}

std::vector<ValueId> values_of(const Program& program, const std::vector<std::string>& names) {
  std::vector<ValueId> values;
  for (const std::string& name : names) {
    const Kernel* kernel = program.kernel(name);
    values.insert(values.end(), kernel->values.begin(), kernel->values.end());
  }
  return values;
}

std::vector<Action> enumerate(const Program& program, const ActionContext& context) {
  std::vector<Action> actions;
  for (const auto& run : runs(program, context)) actions.push_back({"capture", {values_of(program, run)}, ""});
  return actions;
}

Result<Program> apply(const Program& program, const Action& action, const ActionContext& context) {
  Program result = program;
  for (const auto& region : action.regions) {
    bool found = false;
    for (const auto& run : runs(result, context)) {
      if (values_of(result, run) != region) continue;
      std::erase_if(result.captures,
                    [&](const auto& capture) { return std::find(run.begin(), run.end(), capture[0]) != run.end(); });
      result.captures.push_back(run);
      found = true;
      break;
    }
    if (!found) return refuse("capture", "the region is not a run of generated kernels, or is captured already");
  }
  return result;
}

}  // namespace

namespace actions {
extern const ActionDef capture_def;
const ActionDef capture_def{.name = "capture",
                            .doc =
                                "Launch consecutive kernels with one call; on a GPU, the whole module as one graph, "
                                "which later steps keep.",
                            .law = "k1; k2; k3  becomes  one call of {k1 k2 k3}",
                            .enumerate = enumerate,
                            .apply = apply};
}  // namespace actions

}  // namespace mtmc
