#include "actions/action.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>

#include "base/text.h"
#include "ops/op.h"

#include "actions_table.h"

namespace mtmc {

const ActionDef* find_action(std::string_view name) {
  for (const ActionDef* action : actions::kActions)
    if (action->name == name) return action;
  return nullptr;
}

std::vector<const ActionDef*> all_actions() { return {std::begin(actions::kActions), std::end(actions::kActions)}; }

std::vector<Action> enumerate_actions(const Program& program, const ActionContext& context) {
  std::vector<Action> actions;
  for (const ActionDef* def : actions::kActions) {
    if (def->name == "stop" || (context.paper_only && !def->in_paper)) continue;
    for (Action& action : def->enumerate(program, context)) actions.push_back(std::move(action));
  }
  actions.push_back({"stop", {}, ""});
  return actions;
}

Result<Program> apply_action(const Program& program, const Action& action, const ActionContext& context) {
  const ActionDef* def = find_action(action.type);
  if (!def)
    return Error{"applying an action", "unknown type", action.type, "one of the types that `mtmc actions` lists"};
  if (context.paper_only && !def->in_paper)
    return Error{"applying an action", "not among the paper's types", action.type, "--actions all"};
  MTMC_TRY(Program result, def->apply(program, action, context));
  const Status status = verify(result);
  MTMC_CHECK(status.ok(), store_text(action) + " broke the program: " + (status.ok() ? "" : status.error().message()) +
                              "\n" + print(program) + "\n" + print(result));
  return result;
}

std::string store_text(const Action& action) {
  std::string text = action.type;
  if (!action.detail.empty()) text += ":" + action.detail;
  for (size_t r = 0; r < action.regions.size(); ++r) {
    if (r > 0) text += " |";
    for (ValueId id : action.regions[r]) text += " %" + std::to_string(id);
  }
  return text;
}

Result<Action> parse_action(std::string_view text) {
  Action action;
  for (const std::string& word : split(text, ' ')) {
    if (word.empty()) continue;
    if (action.type.empty()) {
      const size_t colon = word.find(':');
      action.type = word.substr(0, colon);
      if (colon != std::string::npos) action.detail = word.substr(colon + 1);
    } else if (word == "|") {
      action.regions.emplace_back();
    } else {
      ValueId id = 0;
      const auto [end, code] = std::from_chars(word.data() + 1, word.data() + word.size(), id);
      if (word[0] != '%' || code != std::errc() || end != word.data() + word.size())
        return Error{"parsing an action", "not a value", word, "a value such as %3"};
      if (action.regions.empty()) action.regions.emplace_back();
      action.regions.back().push_back(id);
    }
  }
  if (action.type.empty())
    return Error{"parsing an action", "no type", "an empty text", "a type and values, such as: fuse %3 %4"};
  return action;
}

std::string render(const Action& action, const Program& program, const Code& code) {
  if (action.regions.empty()) return action.type;
  std::vector<std::string> ops;
  LineRange lines;
  // Lines are those of the first place; places that a descent takes together need not have the same operators.
  const std::set<ValueId> first(action.regions[0].begin(), action.regions[0].end());
  std::set<ValueId> all;
  for (const auto& region : action.regions) all.insert(region.begin(), region.end());
  std::vector<const Node*> nodes;
  for (const Node& node : program.nodes)
    if (all.contains(node.outputs[0])) nodes.push_back(&node);
  const auto is_first = [&](const Node* node) { return first.contains(node->outputs[0]); };
  std::stable_partition(nodes.begin(), nodes.end(), is_first);
  const auto is_view = [](const Node* node) {
    const OpDef* op = find_op(node->op);
    return op != nullptr && op->is_view;
  };
  const bool views_alone = std::all_of(nodes.begin(), nodes.end(), is_view);  // else they say little
  for (const Node* node : nodes) {
    std::string name = node->op;
    if (name == "library" && node->attrs.has("call")) name = split(node->attrs.text("call"), '.')[1];
    if ((views_alone || !is_view(node)) && std::find(ops.begin(), ops.end(), name) == ops.end()) ops.push_back(name);
    for (ValueId id : is_first(node) ? node->outputs : std::vector<ValueId>()) {
      const auto at = code.values.find(id);
      if (at == code.values.end() || at->second.first == 0) continue;
      if (lines.first == 0 || at->second.first < lines.first) lines.first = at->second.first;
      lines.last = std::max(lines.last, at->second.last);
    }
  }
  std::string text = action.type + " ";
  const size_t shown = std::min<size_t>(ops.size(), 5);
  for (size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : i + 1 == ops.size() ? " and " : ", ") + ops[i];
  if (ops.size() > shown) text += " and " + std::to_string(ops.size() - shown) + " more";
  if (!action.detail.empty()) text += " as " + replace_all(action.detail, "_", " ");
  if (lines.first > 0) text += " in " + to_string(lines);
  if (action.regions.size() > 1) text += " (" + std::to_string(action.regions.size()) + " places)";
  return text;
}

}  // namespace mtmc
