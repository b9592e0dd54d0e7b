// Rewrites of the graph: a rule recognises a pattern by its root node and computes the root's value in another way. The
// root keeps its id, what nobody needs any more goes.
#pragma once
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "actions/action.h"

namespace mtmc {

struct Edit {
  std::vector<ValueId> region;  // the values that the rule replaces or looked through, the root's among them
  // Appends nodes (add_node, add_leaf) to the program and returns the value that equals the root's: a new one, or one
  // that was there. An Error refuses the rewrite.
  std::function<Result<ValueId>(Program&)> build;
};

// One pattern. To add one: a file src/actions/rules/NAME.cpp that defines `extern const Rule NAME_def`, and an example
// in tests/actions/golden. Old and new compute the same real function, so they may differ by rounding only.
struct Rule {
  std::string_view name, doc, law;  // "softmax", "A softmax written out.", "exp(x) / sum(exp(x))  becomes  softmax(x)"
  std::optional<Edit> (*match)(const Program& program, const Node& root);
};
std::vector<const Rule*> all_rules();
const Rule* find_rule(std::string_view name);

Result<Program> apply_edit(const Program& program, const Rule& rule, const Edit& edit, const ActionContext& context);

// The node that computes `id` when it is this operator, else null.
const Node* made_by(const Program& program, ValueId id, std::string_view op);
// The number that a constant scalar is.
std::optional<double> scalar_of(const Program& program, ValueId id);
// The operands of a commutative node as (tensor, number), whichever way round they stand.
std::optional<std::pair<ValueId, double>> tensor_and_scalar(const Program& program, const Node& node);
// Whether a node works along the last axis of its operand only.
bool along_last(const Program& program, const Node& node);
// The one axis that a node works along, counted from the front.
std::optional<int> single_axis(const Program& program, const Node& node);
inline bool plain(const Node& node) { return !node.attrs.has("alpha") && !node.attrs.has("dtype"); }

}  // namespace mtmc
