// Micro coding: (state, action) -> next code. A coder takes one semantic step, chooses its numbers and prints the
// result; whether it is right and fast is the judge's business. To add one: src/coder/coders/NAME.cpp defining
// `extern const CoderDef NAME_def`; a generated table finds it.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actions/action.h"
#include "base/result.h"
#include "eval/verdict.h"
#include "ir/hardware.h"
#include "ir/program.h"
#include "store/store.h"
#include "targets/target.h"

namespace mtmc {

class Tuner;
struct LlmAccess;

// What a step starts from. Code that was written by something that does not know Programs has none: it is judged like
// any other, and its own coder says what may be done with it.
struct CodeState {
  std::shared_ptr<const Program> program;  // null: there is none
  Code code;
};

// The step that led to a state, seen from a repair of it (through repairs in between).
struct Origin {
  const CodeState& before;
  std::string action;  // "fuse linear and gelu in lines 31-47"
};

// A state on the way from the start to the one that a step starts from, that one included.
struct Ancestor {
  std::string action;  // that led there, as people read it; empty: the start
  const CodeState& state;
  const Verdict& verdict;
};

// Judges drafts of a step that is still worked on: screened, kept as attempts, counted as evaluations. Compiles them,
// too.
class DraftJudge {
 public:
  virtual ~DraftJudge() = default;
  // Null: the search has no evaluation to spare. Valid as long as the search. `notes`: see Implementation.
  virtual Result<const Verdict*> judge(const std::string& code, const std::string& notes) = 0;
  // As Judge::compile: what speaks against it without a call. No evaluation, and no attempt.
  virtual Result<std::optional<std::string>> compile(const std::string& code) = 0;
};

struct CoderRequest {
  const CodeState& state;
  const Action& action;
  const Verdict* last = nullptr;   // of the state's code, when it was judged
  std::string_view text = {};      // of the action, as people read it; empty: it can be rendered from the Program
  const Origin* origin = nullptr;  // of a `repair`
  const std::vector<Ancestor>* lineage = nullptr;  // the start first
  const Ancestor* partner = nullptr;               // another state, where two are crossed
  DraftJudge* drafts = nullptr;                    // null: it is judged when it is done
  std::function<double()> seconds_left = {};       // of the search; empty: no limit
};

struct Implementation {
  std::shared_ptr<const Program> program;  // null: this code has none
  Code code;
  std::string notes;       // JSON text for people and the store: what was tried, with which numbers
  std::string coder = {};  // who wrote it, where several work together; empty: the one that was asked
};

class Coder {
 public:
  virtual ~Coder() = default;
  virtual std::string name() const = 0;  // "builtin": stored with every attempt
  // Of what shapes its answers beside its name, such as notes; part of a run's identity. Empty: nothing does.
  virtual std::string digest() const { return ""; }
  // The next code, or why this action cannot be implemented here (a refusal, expected in the loop). The same request
  // gives the same answer as long as the store remembers what was tuned.
  virtual Result<Implementation> implement(const CoderRequest& request) = 0;
  // What it can do with a state, in a stable order, without `stop`. `implement` is asked for these actions and, where
  // there is a Program, for the `legal` ones, which are on offer anyhow: then these are `beyond` them (beyond.h).
  virtual Result<std::vector<Proposal>> proposals(const CodeState&, const std::vector<Proposal>& /*legal*/) {
    return std::vector<Proposal>{};
  }
  // It says itself what is done next, always: no state is shown to it with a Program, and its proposals are all that is
  // on offer.
  virtual bool chooses() const { return false; }
  // It can bring two states together (CoderRequest::partner).
  virtual bool crosses() const { return false; }
  // What it can do about its own code that the judge refuses, after so many repairs in a row: a `repair` action.
  // Nothing by default: the remedies are asked (search/remedy.h).
  virtual std::optional<Proposal> repair(const CodeState&, const Verdict&, int /*repairs*/) { return std::nullopt; }
  // How many questions to a language model may be under way at once. Where that is more than one, `implement` may find
  // its answer there already: it was asked ahead, and what comes of a request is the same.
  virtual int questions() const { return 1; }
  // Whether `implement` would begin with a question that could be asked ahead.
  virtual bool would_ask(const CoderRequest&) { return false; }
  // Begins to ask it. `implement` will follow, unless the search ends before.
  virtual void ask_ahead(const CoderRequest&) {}
  // No other `implement` will follow: waits for what is under way, whose answers the store keeps.
  virtual void end_questions() {}
  // Whether it is known at once, without work, that `implement` would refuse.
  virtual bool declines(const CoderRequest&) { return false; }
  // Why it can do nothing any more, whatever it is asked (no money, no key, no network). A search then ends as if time
  // were up.
  virtual std::optional<Error> given_up() const { return std::nullopt; }
  // What it has cost since it was made, as JSON (to_json(Spent)); empty: nothing costs.
  virtual std::string account() const { return ""; }
  // Can it measure what a target only guesses (TargetDef::measured)? Then that is done before a winner is certified.
  virtual bool measures() const { return false; }
  // Does it prepare? Then `implement`, too, costs little and may be called for what is only likely to be wanted.
  virtual bool prepares() const { return false; }
  // A hint: this request may follow. Starts what takes long.
  virtual Status prepare(const CoderRequest&) { return ok_status(); }
  // None of those requests will follow: what was not started yet is forgotten.
  virtual Status stop_preparing() { return ok_status(); }
};

// What a coder may use. All references must outlive it.
struct CoderContext {
  const TargetDef& target;
  const Hardware& hardware;
  const ModuleShell& shell;
  Store& store;
  Tuner* tuner = nullptr;  // null: nothing can be timed here
  bool paper_only = false;
  uint64_t seed = 0;
  std::string argument = {};  // what --coder NAME:ARGUMENT says behind the colon
  LlmAccess* llm = nullptr;   // null: no large language model can be asked
};

struct CoderDef {
  std::string_view name, doc;
  std::string_view argument;  // what its argument is called in help texts; empty: it takes none
  Result<std::unique_ptr<Coder>> (*make)(const CoderContext& context);
  bool asks_model = false;  // a large language model, of LlmOptions
};

const CoderDef* find_coder(std::string_view name);
std::vector<const CoderDef*> all_coders();

}  // namespace mtmc
