#include "actions/describe.h"

#include <fmt/core.h>

#include "actions/rewrite.h"
#include "base/text.h"
#include "ir/schedule_words.h"

namespace mtmc {

std::string actions_markdown() {
  std::string page =
      "# Actions\n\n"
      "An action is `type @ region`: one semantic optimisation step. Its stored text is the type and the values of "
      "the\n"
      "kernels it works on (`fuse %3 %4`, `simplify:softmax %5 %6 %7`); several places of one class are separated by\n"
      "`|` and change at once. People and policies read the lines of the current code: `fuse linear and gelu in lines\n"
      "31-47 (2 places)`. What is listed is what is legal; a refusal says why. Numbers such as tile sizes belong to\n"
      "micro coding. `mtmc apply FILE --do ACTION` tries one by hand.\n\n"
      "Actions that edit only the schedule cannot change the answer. The others are flagged in every report.\n"
      "An action on a schedule is legal only where the target prints other code for it, or could with other numbers.\n"
      "`reorder:im2win` is legal where a convolution's channels do not fill blocks of K. [PROGRAM.md](PROGRAM.md) "
      "lists the words.\n\n"
      "On `triton` a kernel begins with the best guess of its numbers, so that a step costs one compilation. `tile` "
      "has "
      "its blocks,\n"
      "rows a program and warps measured, `pipeline` how many steps of its loops are loaded ahead, each from the "
      "numbers that it has;\n"
      "where those are the fastest the code stays as it is, and is not judged again. Both end when the kernel becomes "
      "another, by `fuse` or "
      "`precision`.\n"
      "`reorder:reversed` lets the programs of a contraction walk groups of columns of tiles. What is still a guess in "
      "the best candidate\n"
      "is measured before it is certified, in one step for all its kernels that take at least 2 % of the time; a fifth "
      "of the time limit\n"
      "is kept for that.\n\n"
      "| type | meaning | law (before becomes after) | paper | edits the graph |\n| --- | --- | --- | --- | --- |\n";
  for (const ActionDef* action : all_actions())
    page += fmt::format("| `{}` | {} | `{}` | {} | {} |\n", action->name, action->doc, action->law,
                        action->in_paper ? "yes" : "", action->rewrites ? "yes" : "");
  page +=
      "\n`--actions paper` leaves those of the paper. `repair` is the LLM coder's own: it fixes an error that a "
      "verdict "
      "names.\n\n"
      "## Rules of simplify\n\n"
      "Each recognises a pattern by its last operator and computes the same real function with less.\n\n"
      "| rule | meaning | law (before becomes after) |\n| --- | --- | --- |\n";
  for (const Rule* rule : all_rules()) page += fmt::format("| `{}` | {} | `{}` |\n", rule->name, rule->doc, rule->law);
  page +=
      "\n## To add one\n\n"
      "- an action type: `src/actions/defs/NAME.cpp` defining `extern const ActionDef NAME_def` in `mtmc::actions`, "
      "and "
      "`tests/actions/golden/NAME.t`\n"
      "- a rule: `src/actions/rules/NAME.cpp` defining `extern const Rule NAME_def` in `mtmc::rules`, and a case in "
      "`tests/actions/golden/simplify.t`\n\n"
      "A golden file holds programs, lines `>>> ACTION` (several, separated by ` ; `, in a row) and what becomes of "
      "them;\n`test_actions --update-golden` writes the answers. This page is printed by `mtmc actions --markdown`.\n";
  return page;
}

std::string schedule_words_markdown() {
  std::string table = "| word | meaning | set by | makes a difference to |\n| --- | --- | --- | --- |\n";
  for (const ScheduleWord& word : schedule_words()) {
    std::vector<std::string> texts, targets;
    for (std::string_view value : word.values) texts.push_back("`" + choice_text(word.key, value) + "`");
    if (texts.empty()) texts.push_back(fmt::format("`{}`", word.key));
    for (const TargetDef* target : all_targets())
      if (target->reads(word.key)) targets.push_back(fmt::format("`{}`", target->name));
    table += fmt::format("| {} | {} | `{}` | {} |\n", join(texts, ", "), word.doc, word.set_by, join(targets, ", "));
  }
  return table;
}

}  // namespace mtmc
