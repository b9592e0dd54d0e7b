// simplify: the rules of src/actions/rules, one action for each class of places where a rule matches.
#include <algorithm>
#include <map>
#include <set>

#include "actions/rewrite.h"
#include "actions/schedule.h"
#include "base/parallel.h"

namespace mtmc {
namespace {

// What makes two places of a rule one class: the same nodes, wired the same way, in kernels of the same kind.
std::string place_key(const Links& links, const std::vector<ValueId>& region) {
  Kernel place;
  place.values = region;
  std::string key = isomorphism_key(links, place);
  for (int maker : links.makers(region.back()))
    key += " in " + std::string(name(links.program().kernels[static_cast<size_t>(maker)].family));
  return key;
}

Result<Program> apply(const Program& program, const Action& action, const ActionContext& context) {
  const Rule* rule = find_rule(action.detail);
  if (!rule) return refuse("simplify", "unknown rule", action.detail, "one of the rules in docs/ACTIONS.md");
  if (action.regions.empty()) return refuse("simplify", "no region", "no values", "the values of the pattern");
  Program result = program;
  for (const auto& region : action.regions) {
    std::optional<Edit> found;
    for (const Node& node : result.nodes) {
      if (std::find(region.begin(), region.end(), node.outputs[0]) == region.end()) continue;
      auto edit = rule->match(result, node);
      if (edit && ascending(edit->region) == region) found = std::move(edit);
    }
    if (!found) return refuse("simplify", "the region is not this pattern", action.detail);
    MTMC_TRY(result, apply_edit(result, *rule, *found, context));
  }
  return result;
}

// Where a rule's edits can be applied, one place after the other. Each is tried, on all cores: inside a fused kernel of
// a large network that takes a tenth of a second.
std::vector<Edit> legal_edits(const Program& program, const Rule& rule, const ActionContext& context) {
  std::vector<Edit> found, legal;
  for (const Node& node : program.nodes)
    if (auto edit = rule.match(program, node)) found.push_back(std::move(*edit));
  std::vector<char> is_legal(found.size());
  in_parallel(found.size(), [&](size_t i) { is_legal[i] = apply_edit(program, rule, found[i], context).ok(); });
  for (size_t i = 0; i < found.size(); ++i)
    if (is_legal[i]) legal.push_back(std::move(found[i]));
  return legal;
}

std::vector<Action> enumerate(const Program& program, const ActionContext& context) {
  std::vector<Action> actions;
  const Links links(program);
  for (const Rule* rule : all_rules()) {
    std::vector<std::string> order;
    std::map<std::string, std::vector<std::vector<ValueId>>> classes;
    for (const Edit& edit : legal_edits(program, *rule, context)) {
      const std::vector<ValueId> region = ascending(edit.region);
      const std::string key = place_key(links, region);
      if (!classes.count(key)) order.push_back(key);
      classes[key].push_back(region);
    }
    for (const std::string& key : order) {
      const auto& places = classes[key];
      Action all{"simplify", {}, std::string(rule->name)};
      std::set<ValueId> taken;
      for (const auto& region : places) {
        if (places.size() > 1) actions.push_back({"simplify", {region}, std::string(rule->name)});
        if (std::any_of(region.begin(), region.end(), [&](ValueId id) { return taken.count(id) > 0; })) continue;
        taken.insert(region.begin(), region.end());
        all.regions.push_back(region);
      }
      if (all.regions.size() > 1 || places.size() == 1) actions.push_back(std::move(all));
    }
  }
  // Places that are legal one by one may stand in each other's way.
  std::vector<char> refused(actions.size());
  in_parallel(actions.size(), [&](size_t i) {
    refused[i] = actions[i].regions.size() > 1 && !apply(program, actions[i], context).ok();
  });
  std::vector<Action> possible;
  for (size_t i = 0; i < actions.size(); ++i)
    if (!refused[i]) possible.push_back(std::move(actions[i]));
  return possible;
}

}  // namespace

namespace actions {
extern const ActionDef simplify_def;
const ActionDef simplify_def{.name = "simplify",
                             .doc = "Rewrite the graph by algebra: the same real function, computed with less.",
                             .law = "f(x)  becomes  g(x) with f = g",
                             .rewrites = true,
                             .enumerate = enumerate,
                             .apply = apply};
}  // namespace actions

}  // namespace mtmc
