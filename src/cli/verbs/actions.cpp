// `mtmc actions`: the action types with their meaning and their law.
#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "actions/action.h"
#include "actions/describe.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/verb.h"

namespace mtmc {
namespace {

Result<int> list_actions(bool as_json, bool as_markdown) {
  if (as_markdown) {
    fmt::print("{}", actions_markdown());
    return kDone;
  }
  Json all = Json::array();
  for (const ActionDef* action : all_actions()) {
    if (as_json) {
      all.push_back({{"name", action->name},
                     {"doc", action->doc},
                     {"law", action->law},
                     {"paper", action->in_paper},
                     {"rewrites", action->rewrites}});
      continue;
    }
    fmt::print("{:<10} {}{}{}\n{}\n", action->name, action->doc, action->in_paper ? " [paper]" : "",
               action->rewrites ? " [edits the graph]" : "", indent(action->law, 11));
  }
  if (as_json) fmt::print("{}\n", all.dump(2));
  return kDone;
}

VerbBody declare(Options& options) {
  const auto as_json = std::make_shared<bool>(false), as_markdown = std::make_shared<bool>(false);
  options.flag(*as_json, "--json", "print JSON");
  options.flag(*as_markdown, "--markdown", "print docs/ACTIONS.md");
  return [as_json, as_markdown] { return list_actions(*as_json, *as_markdown); };
}

}  // namespace

extern const Verb actions_def;
const Verb actions_def{"actions", "The action types, what each means, and its law.", declare};

}  // namespace mtmc
