// `mtmc prompt FILE --do ACTION`: what a language model would be asked, without asking one.
#include <fmt/core.h>

#include <memory>

#include "actions/action.h"
#include "cli/model_options.h"
#include "cli/task_options.h"
#include "cli/verb.h"
#include "coder/coding_prompt.h"
#include "frontend/trace.h"

namespace mtmc {
namespace {

struct PromptVerbOptions {
  TaskOptions task;
  std::string target = "auto", hardware, prompt = "default";
  std::vector<std::string> actions;
};

Result<int> print_prompt(const PromptVerbOptions& options) {
  if (options.actions.empty())
    return Error{"writing a prompt", "no action is named", "", "--do ACTION, as `mtmc apply FILE` lists them"};
  MTMC_TRY(const Task task, options.task.task());
  MTMC_TRY(const TargetHere here, choose_target(options.target, options.hardware));
  MTMC_TRY(Traced traced, trace(task.json));
  const ActionContext context{here.machine.hardware, *here.target};
  Action last;
  for (size_t i = 0; i < options.actions.size(); ++i) {
    MTMC_TRY(last, parse_action(options.actions[i]));
    if (here.target->handwritten) continue;  // its states have no Program that an action would change
    MTMC_TRY(Program after, apply_action(traced.program, last, context));
    if (i + 1 < options.actions.size()) traced.program = std::move(after);
  }
  CodeState state{std::make_shared<const Program>(traced.program), {}};
  MTMC_TRY(state.code, here.target->emit(traced.program, here.machine.hardware, traced.shell));
  if (here.target->handwritten) state.program = nullptr;
  const ChatRequest asked = coding_prompt(
      {state, last}, {*here.target, here.machine.hardware, prompt_named(options.prompt), traced.shell.description});
  if (!asked.system.empty()) fmt::print("----- system -----\n{}\n", asked.system);
  for (const ChatMessage& message : asked.messages) fmt::print("----- user -----\n{}", message.text);
  return kDone;
}

VerbBody declare(Options& options) {
  const auto given = std::make_shared<PromptVerbOptions>();
  given->task.declare(options);
  std::vector<std::string> targets = {"auto"};
  for (const TargetDef* target : all_targets()) targets.emplace_back(target->name);
  options.choice(given->target, "--target", targets, "what kernels are printed for");
  options.text(given->hardware, "--hardware", "NAME|FILE.json", "a machine that is not here");
  options.words(
      given->actions, "--do", "ACTION",
      "the step that would be asked for, such as \"fuse %3 %4\"; the builtin coder takes those before the last");
  declare_prompt(options, given->prompt);
  return [given] { return print_prompt(*given); };
}

}  // namespace

extern const Verb prompt_def;
const Verb prompt_def{"prompt", "Print what a language model would be asked for one step; asks nobody.", declare};

}  // namespace mtmc
