// `mtmc prompt FILE --do ACTION`: what a language model would be asked, without asking one. The coder that would ask is
// made as in a search; what it sends comes to us instead of a server.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "actions/action.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/model_options.h"
#include "cli/task_options.h"
#include "cli/verb.h"
#include "coder/coder.h"
#include "coder/llm_options.h"
#include "frontend/trace.h"
#include "store/store.h"
#include "targets/shell_json.h"

namespace mtmc {
namespace {

constexpr const char* kDoing = "writing a prompt";

struct PromptVerbOptions {
  TaskOptions task;
  std::string target = "auto", hardware, prompt = "default", coder = "llm", store;
  int64_t node = 0;
  std::vector<std::string> actions;
};

// A state on the way to the one that is asked about.
struct Stage {
  std::string rendered;  // the action that led there
  bool repair = false;   // by a repair
  CodeState state;
  std::optional<Verdict> verdict;
};

// Where a question is asked.
struct Place {
  const TargetDef* target = nullptr;
  Hardware hardware;
  ModuleShell shell;
  std::vector<Stage> way;  // the start first; the last one is the state
};

// The module as it is, after the builtin coder's actions.
Result<Place> place_of_file(const PromptVerbOptions& options) {
  MTMC_TRY(const Task task, options.task.task());
  MTMC_TRY(const TargetHere here, choose_target(options.target, options.hardware));
  MTMC_TRY(Traced traced, trace(task.json));
  const Hardware& hardware = here.machine.hardware;
  for (size_t i = 0; i + 1 < options.actions.size() && !here.target->handwritten; ++i) {
    MTMC_TRY(const Action action, parse_action(options.actions[i]));
    MTMC_TRY(traced.program, apply_action(traced.program, action, {hardware, *here.target}));
  }
  Stage start;
  start.state.program = std::make_shared<const Program>(traced.program);
  MTMC_TRY(start.state.code, here.target->emit(traced.program, hardware, traced.shell));
  return Place{here.target, hardware, traced.shell, {std::move(start)}};
}

Result<Stage> stage_of(const Place& place, const NodeRecord& node) {
  Stage stage{node.rendered, node.action.starts_with("repair"), {}, {}};
  if (node.verdict() != nullptr) stage.verdict = *node.verdict();
  if (!node.program.empty()) {
    MTMC_TRY(Program program, parse_program(node.program));
    MTMC_TRY(stage.state.code, place.target->emit(program, place.hardware, place.shell));
    stage.state.program = std::make_shared<const Program>(std::move(program));
  }
  stage.state.code.text = node.code;
  return stage;
}

// An attempt of the store.
Result<Place> place_of_node(const PromptVerbOptions& options) {
  MTMC_TRY(const auto store, open_store(store_path(options.store), OpenFor::reading));
  MTMC_TRY(const NodeRecord node, store->node(options.node));
  if (node.code.empty()) return Error{kDoing, "this attempt has no code", std::to_string(node.id), "one that has"};
  MTMC_TRY(const RunRecord run, store->run(node.run));
  MTMC_TRY(const auto nodes, store->nodes(node.run));
  Place place{find_target(run.target), run.hardware, {}, {}};
  if (place.target == nullptr) return Error{kDoing, "this version has no such target", run.target, ""};
  MTMC_TRY(place.shell, shell_from_json_text(run.shell));
  for (const NodeRecord* one : path_to(nodes, node.id)) {
    MTMC_TRY(Stage stage, stage_of(place, *one));
    place.way.push_back(std::move(stage));
  }
  return place;
}

// One of those that the coder is asked for in a search: by its text or its stored text, or the first of its type.
const Proposal* named(const std::vector<Proposal>& proposals, const std::string& word) {
  const auto is_it = [&](const Proposal& one) { return store_text(one.action) == word || one.text == word; };
  const auto is_of_type = [&](const Proposal& one) { return one.action.type == word; };
  auto found = std::find_if(proposals.begin(), proposals.end(), is_it);
  if (found == proposals.end()) found = std::find_if(proposals.begin(), proposals.end(), is_of_type);
  return found == proposals.end() ? nullptr : &*found;
}

Result<Proposal> step_wanted(Coder& coder, const Place& place, const std::string& word) {
  const Stage& here = place.way.back();
  const ActionContext context{place.hardware, *place.target};
  if (word == "repair") {
    std::optional<Proposal> repair;
    if (here.verdict && !here.verdict->certified()) repair = coder.repair(here.state, *here.verdict, 0);
    if (repair) return std::move(*repair);
    return Error{kDoing, "there is nothing that this coder could repair", "",
                 "--node N of a refused attempt of its own"};
  }
  std::vector<Proposal> legal;
  if (here.state.program != nullptr)
    for (Action& action : enumerate_actions(*here.state.program, context)) {
      std::string text = render(action, *here.state.program, here.state.code);
      if (action.type != "stop") legal.push_back({std::move(action), std::move(text)});
    }
  MTMC_TRY(std::vector<Proposal> all, coder.proposals(here.state, legal));
  if (word.empty() && coder.chooses() && !all.empty()) return all.front();
  all.insert(all.begin(), legal.begin(), legal.end());
  if (const Proposal* found = named(all, word)) return *found;
  if (here.state.program != nullptr &&
      !word.empty()) {  // what is legal, too, but not on offer, and why it is not legal
    MTMC_TRY(Action action, parse_action(word));
    MTMC_TRY([[maybe_unused]] const Program after, apply_action(*here.state.program, action, context));
    std::string text = render(action, *here.state.program, here.state.code);
    return Proposal{std::move(action), std::move(text)};
  }
  std::vector<std::string> texts;
  for (const Proposal& one : all) texts.push_back("'" + one.text + "'");
  return Error{kDoing, word.empty() ? "no action is named" : "this action is not on offer here", word,
               "--do " + join(texts, " or ")};
}

// A search has time and evaluations for drafts; what they would say is never asked here.
class NoDrafts final : public DraftJudge {
 public:
  Result<const Verdict*> judge(const std::string&, const std::string&) override {
    return static_cast<const Verdict*>(nullptr);
  }
  Result<std::optional<std::string>> compile(const std::string&) override { return std::optional<std::string>(); }
};

// Has the coder take the step. Whatever it sends is refused, and kept in `sent` (see ask).
Status take_step(Coder& coder, const Place& place, const Proposal& proposal) {
  const Verdict unjudged;
  const auto verdict_of = [&](const Stage& stage) -> const Verdict& {
    return stage.verdict ? *stage.verdict : unjudged;
  };
  std::vector<Ancestor> lineage;
  for (const Stage& stage : place.way) lineage.push_back({stage.rendered, stage.state, verdict_of(stage)});
  size_t led = place.way.size() - 1;  // the step that a repair is of
  while (place.way[led].repair) --led;
  std::optional<Origin> origin;
  if (led > 0 && proposal.action.type == "repair")
    origin.emplace(Origin{place.way[led - 1].state, place.way[led].rendered});
  const Stage& here = place.way.back();
  NoDrafts drafts;
  const auto made = coder.implement({here.state, proposal.action, &verdict_of(here), proposal.text,
                                     origin ? &*origin : nullptr, &lineage, nullptr, &drafts});
  return made.ok() ? ok_status() : Status(made.error());
}

void print_question(const Json& question) {
  for (const Json& message : question.at("messages")) {
    const std::string role = message.at("role"), text = message.at("content");
    fmt::print("----- {} -----\n{}{}", role, text, role == "system" ? "\n" : "");
  }
}

Result<int> print_prompt(const PromptVerbOptions& options) {
  if (options.task.target.empty() == (options.node == 0))
    return Error{kDoing, "it is of one state", options.node == 0 ? "neither" : "both", "FILE or --node N"};
  MTMC_TRY(Place place, options.node == 0 ? place_of_file(options) : place_of_node(options));
  Json question;
  LlmOptions nobody;
  nobody.model = "nobody", nobody.base_url = "http://localhost", nobody.prompt = prompt_named(options.prompt);
  LlmAccess access(std::move(nobody));
  access.transport = [&](const HttpRequest& sent, const auto&) {
    question = Json::parse(sent.body);
    return HttpResponse{.status = 400};
  };
  MTMC_TRY(const auto nothing, open_store(":memory:"));
  MTMC_TRY(const auto coder, find_coder(options.coder)
                                 ->make({.target = *place.target,
                                         .hardware = place.hardware,
                                         .shell = place.shell,
                                         .store = *nothing,
                                         .llm = &access}));
  if (coder->chooses() || place.target->handwritten)
    for (Stage& stage : place.way) stage.state.program = nullptr;
  const std::string word = options.actions.empty() ? "" : options.actions.back();
  MTMC_TRY(const Proposal proposal, step_wanted(*coder, place, word));
  const Status taken = take_step(*coder, place, proposal);
  if (question.is_null()) return taken.error();
  print_question(question);
  return kDone;
}

VerbBody declare(Options& options) {
  const auto given = std::make_shared<PromptVerbOptions>();
  given->task.declare(options, false);
  std::vector<std::string> targets = {"auto"};
  for (const TargetDef* target : all_targets()) targets.emplace_back(target->name);
  options.choice(given->target, "--target", targets, "what kernels are written for");
  options.text(given->hardware, "--hardware", "NAME|FILE.json", "a machine that is not here");
  options.words(given->actions, "--do", "ACTION",
                "the step to ask for: \"fuse %3 %4\", a type alone, or repair; builtin takes those before the last");
  options.choice(given->coder, "--coder", {"llm", "agent", "free", "single_pass"}, "who would ask");
  options.integer(given->node, "--node", 1, "instead of FILE: an attempt in the store");
  options.text(given->store, "--store", "FILE", "the store to read");
  declare_prompt(options, given->prompt);
  return [given] { return print_prompt(*given); };
}

}  // namespace

extern const Verb prompt_def;
const Verb prompt_def{"prompt", "Print what a language model would be asked for one step; asks nobody.", declare};

}  // namespace mtmc
