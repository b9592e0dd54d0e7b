// An action is `type @ region`: one semantic optimisation step. Stored as type + kernel values (stable ids), shown with
// the lines of the current code. To add one: src/actions/defs/NAME.cpp defining `extern const ActionDef NAME_def`, and
// a test file.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/hardware.h"
#include "ir/program.h"
#include "targets/target.h"

namespace mtmc {

struct Action {
  std::string type;  // "fuse"
  std::vector<std::vector<ValueId>>
      regions;         // one list of values per place; several places are isomorphic and changed at once
  std::string detail;  // a word that tells apart actions of one type on one region: "reversed"; may be empty
  bool operator==(const Action&) const = default;
};

// An action as people and policies read it: "fuse linear and gelu in lines 31-47".
struct Proposal {
  Action action;
  std::string text;
  bool beyond = false;  // beyond what the Program can take: free code, which its coder writes
  bool stop() const { return action.type == "stop"; }
};

// What actions may know beside the program.
struct ActionContext {
  const Hardware& hardware;
  const TargetDef& target;
  bool paper_only = false;  // --actions paper: tile, fuse, pipeline, reorder (+ lower, stop)
};

struct ActionDef {
  std::string_view name, doc, law;  // "fuse", "Merge a producer into its consumer.", "k1 -> %t -> k2  becomes  k12"
  bool in_paper = false;
  bool rewrites = false;                                                   // edits the graph: flagged in the report
  std::vector<Action> (*enumerate)(const Program&, const ActionContext&);  // every legal call, stable order
  Result<Program> (*apply)(const Program&, const Action&,
                           const ActionContext&);  // pure; an Error is a refusal whose text is tested word for word
};

const ActionDef* find_action(std::string_view name);
std::vector<const ActionDef*> all_actions();

// All legal actions, `stop` last.
std::vector<Action> enumerate_actions(const Program& program, const ActionContext& context);
Result<Program> apply_action(const Program& program, const Action& action, const ActionContext& context);

// "fuse %3 %4 %5", "reorder:reversed %3", "fuse %3 %4 | %9 %10": stored text; parse(store_text(a)) == a.
std::string store_text(const Action& action);
Result<Action> parse_action(std::string_view text);
// "fuse linear and gelu in lines 31-47 (2 places)": what people and the policy read.
std::string render(const Action& action, const Program& program, const Code& code);

}  // namespace mtmc
