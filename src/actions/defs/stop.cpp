#include "actions/action.h"

namespace mtmc {
namespace {

std::vector<Action> enumerate(const Program&, const ActionContext&) { return {{"stop", {}, ""}}; }
Result<Program> apply(const Program& program, const Action&, const ActionContext&) { return program; }

}  // namespace

namespace actions {
extern const ActionDef stop_def;
const ActionDef stop_def{.name = "stop",
                         .doc = "End the episode.",
                         .law = "p becomes p",
                         .in_paper = true,
                         .enumerate = enumerate,
                         .apply = apply};
}  // namespace actions

}  // namespace mtmc
