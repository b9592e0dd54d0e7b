#include "targets/import_time.h"

#include <algorithm>

#include "ir/links.h"
#include "ops/op.h"
#include "targets/library_call.h"

namespace mtmc {

namespace {

constexpr double kMostBytes = 64 * 1024 * 1024;

using Values = std::set<ValueId>;

bool is_known(const Node& node) {
  const OpDef* op = find_op(node.op);
  return op != nullptr && (op->define != nullptr || op->is_view);
}

// Of library kernels none of whose values is `kept`, those that depend on numbers alone.
Values made_without(const Links& links, const Values& kept) {
  const Program& program = links.program();
  Values made;
  const auto is_fixed = [&](ValueId id) {
    return id == kNoValue || made.count(id) > 0 ||
           (program.value(id).kind == ValueKind::constant && literal(program.value(id)));
  };
  double bytes_made = 0;
  for (const Kernel& kernel : program.kernels) {
    if (kernel.family != Family::library) continue;
    double bytes_more = 0;
    std::vector<ValueId> more;
    bool fixed = true;
    for (const Node* node : links.nodes(kernel.values)) {
      fixed = is_known(*node) && (is_like(*node) || std::all_of(node->inputs.begin(), node->inputs.end(), is_fixed));
      for (ValueId id : node->outputs) {
        fixed = fixed && kept.count(id) == 0;
        bytes_more += static_cast<double>(program.value(id).type.elements()) * bytes(program.value(id).storage);
        if (fixed && made.insert(id).second) more.push_back(id);
      }
      if (!fixed) break;
    }
    if (fixed && bytes_made + bytes_more <= kMostBytes) {
      bytes_made += bytes_more;
    } else {
      for (ValueId id : more) made.erase(id);
    }
  }
  return made;
}

}  // namespace

std::set<ValueId> made_at_import(const Program& program) {
  const Links links(program);
  const Values made = made_without(links, {});
  // What the caller or the state gets, and what that may be a view of.
  Values kept;
  std::vector<ValueId> open(program.outputs);
  for (const StateUpdate& state : program.states) open.push_back(state.value);
  while (!open.empty()) {
    const ValueId id = open.back();
    open.pop_back();
    if (made.count(id) == 0 || !kept.insert(id).second) continue;
    const Node* node = links.producer(id);
    open.insert(open.end(), node->inputs.begin(), node->inputs.end());
  }
  return kept.empty() ? made : made_without(links, kept);
}

bool runs_at_import(const Kernel& kernel, const std::set<ValueId>& made) {
  return kernel.family == Family::library && made.contains(kernel.values[0]);
}

}  // namespace mtmc
