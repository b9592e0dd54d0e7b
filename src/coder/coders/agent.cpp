#include "coder/agent.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "coder/answer.h"
#include "eval/evidence.h"

namespace mtmc {
namespace {

constexpr int kVariations = 16;                   // conversations that may be had at one state
constexpr size_t kFound = 3;                      // notes that one question brings
constexpr std::string_view kLearned = "learned";  // kind in the store: notes by their digests
constexpr std::array<std::string_view, 11> kTools = {"lineage", "notes", "read",    "other", "verdict", "edit",
                                                     "compile", "judge", "profile", "learn", "submit"};

constexpr const char* kRules = R"(
This time you work in turns. Every answer ends with exactly one of these lines; what it asks for is my next message:
notes: WORDS           what we know about these words, from measurements
lineage:               the steps that led here, with their speedups over eager, or why they were refused
read: N                the code behind step N of the lineage
other:                 the other parent, where you are to bring two together: its code, and what the judge said
verdict:               all that the judge said about the code you start from
edit:                  your draft is the whole file, or a unified diff, in a block above this line; it is checked, not run
compile:               your draft is loaded, which builds what its file builds then, and is not called: what do compilers say
judge:                 your draft is screened: is it right, and how fast
profile:               what takes the time of your draft, by kernel; it is judged first where it was not
learn: TITLE | TEXT    keeps what you found out, for those who come after you
submit:                your draft is done. You are asked once to look for mistakes in it before it counts.
A line that you cannot use costs a turn like any other.)";

std::string rules(const CoderRequest& request, int judgements) {
  const int most = request.drafts == nullptr ? 0 : judgements;
  std::string text = std::string(kRules) + fmt::format(" {} drafts can be judged, each at the search's expense.", most);
  if (request.partner != nullptr)
    text += " This time two parents are brought together: yours, and the one that `other:` shows.";
  return text;
}

// Without the marks that Markdown puts around words.
std::string_view unmarked(std::string_view text) {
  constexpr std::string_view kMarks = " \t\r*_`>#-";
  const size_t first = text.find_first_not_of(kMarks);
  return first == text.npos ? "" : text.substr(first, text.find_last_not_of(kMarks) - first + 1);
}

std::string lineage_text(const CoderRequest& request) {
  if (request.lineage == nullptr) return "Nobody knows.\n";
  std::string text;
  for (size_t i = 0; i < request.lineage->size(); ++i) {
    const Ancestor& one = (*request.lineage)[i];
    const Verdict& verdict = one.verdict;
    const Speedup* speedup = speedup_over(verdict, "eager");
    const std::string outcome = !verdict.certified() ? "refused: " + verdict.reason
                                : speedup            ? fmt::format("{:.2f}x", speedup->median)
                                                     : "right";
    text += fmt::format("{}. {}: {}\n", i, one.action.empty() ? "the module as it is" : one.action, outcome);
  }
  return text;
}

std::string read_text(const CoderRequest& request, const std::string& words) {
  const size_t count = request.lineage == nullptr ? 0 : request.lineage->size();
  const bool number = !words.empty() && words.size() < 4 && words.find_first_not_of("0123456789") == words.npos;
  if (!number || std::stoul(words) >= count)
    return fmt::format("There is no such step: got '{}', wanted a number below {}.\n", words, count);
  return with_line_numbers((*request.lineage)[std::stoul(words)].state.code.text);
}

std::string verdict_text(const Verdict& verdict) {
  if (!verdict.certified()) return describe_refusal(verdict);
  const Speedup* speedup = speedup_over(verdict, "eager");
  std::string text =
      speedup ? fmt::format("It is right, and {:.2f} times as fast as eager.\n", speedup->median) : "It is right.\n";
  if (verdict.own_kernel_share)
    text += fmt::format("Its own kernels take {:.0f} % of a call.\n", 100 * *verdict.own_kernel_share);
  for (const std::string& note : verdict.notes) text += "Note: " + note + "\n";
  return text;
}

std::string other_text(const CoderRequest& request) {
  if (request.partner == nullptr) return "There is no other parent this time.\n";
  const auto& [action, state, verdict] = *request.partner;
  return fmt::format("{}\n{}\n{}", action.empty() ? "the module as it is" : action, verdict_text(verdict),
                     with_line_numbers(state.code.text));
}

std::string unusable(const Error& error) {
  return "This cannot be used: " + error.message() + ". Your draft is what it was.\n";
}

}  // namespace

Result<AgentCall> agent_call(std::string_view answer) {
  std::optional<AgentCall> last;
  bool in_code = false, has_code = false;
  for (const std::string& line : split(without_thoughts(answer), '\n')) {
    if (line.starts_with("```")) {
      in_code = !in_code, has_code = true;
      continue;
    }
    const size_t colon = line.find(':');
    if (in_code || colon == line.npos) continue;
    std::string tool(unmarked(std::string_view(line).substr(0, colon)));
    std::transform(tool.begin(), tool.end(), tool.begin(), [](unsigned char c) { return std::tolower(c); });
    if (std::find(kTools.begin(), kTools.end(), tool) != kTools.end())
      last = AgentCall{tool, std::string(unmarked(std::string_view(line).substr(colon + 1)))};
  }
  if (last) last->code = has_code;
  if (last) return *last;
  if (has_code) return AgentCall{"edit", "", true};
  return Error{"reading what comes next", "no line asks for anything", "'" + std::string(answer.substr(0, 60)) + "'",
               "one of " + join(std::vector<std::string>(kTools.begin(), kTools.end()), ", ") + ", with a colon"};
}

Result<std::unique_ptr<AgentCoder>> AgentCoder::open(LlmParts parts) {
  MTMC_TRY(std::vector<Note> notes, read_notes(parts.options.knowledge));
  std::vector<Note> given;
  for (const Note& note : notes) {
    MTMC_TRY(const auto learned, parts.store.recall(kLearned, digest_of({note})));
    if (!learned) given.push_back(note);
  }
  return std::unique_ptr<AgentCoder>(new AgentCoder(std::move(parts), std::move(notes), digest_of(given)));
}

AgentCoder::AgentCoder(LlmParts parts, std::vector<Note> notes, std::string digest)
    : LlmCoder(parts), store_(parts.store), notes_(std::move(notes)), digest_(std::move(digest)) {}

std::string AgentCoder::name() const {
  std::string text = name_of("agent");
  const LlmOptions usual;
  if (options().agent_turns != usual.agent_turns) text += fmt::format(" turns={}", options().agent_turns);
  if (options().agent_judgements != usual.agent_judgements)
    text += fmt::format(" judgements={}", options().agent_judgements);
  return text;
}

Result<std::vector<Proposal>> AgentCoder::proposals(const CodeState& state, const std::vector<Proposal>& legal) {
  return numbered("rewrite", "variation", kVariations, state, legal);
}

Result<Implementation> AgentCoder::implement(const CoderRequest& request) {
  ChatRequest asked = coding_prompt(request, facts());
  asked.answer_tokens = options().answer_tokens;
  asked.messages.back().text += rules(request, options().agent_judgements);
  Bill bill;
  Draft draft;
  for (int turn = 1; turn <= options().agent_turns && !draft.submitted; ++turn) {
    const auto reply = whole_answer(asked, bill);
    const bool answered = reply.ok() && reply->stop != Stop::refused;
    if (!answered && !draft.code.empty()) break;  // it was paid for, and passed the check
    if (!reply.ok()) return reply.error();
    if (!answered) return Error{"reading the answer", "the model would not answer", "", ""};
    MTMC_TRY(std::string answer, answer_to(asked, *reply, request, draft, bill));
    const int left = options().agent_turns - turn;
    answer += left == 1 ? "\nThis is your last turn.\n" : fmt::format("\n{} turns are left.\n", left);
    asked.messages.push_back({Speaker::assistant, trim(reply->text).empty() ? "(nothing)" : reply->text});
    asked.messages.push_back({Speaker::user, std::move(answer)});
  }
  if (draft.code.empty())
    return Error{"working on a step", "there is no draft that could be used",
                 fmt::format("{} turns", options().agent_turns), "an edit that passes the check"};
  return Implementation{nullptr, Code{.text = std::move(draft.code)}, bill.note(client().model().name)};
}

Result<std::string> AgentCoder::answer_to(const ChatRequest& asked, const ChatReply& reply, const CoderRequest& request,
                                          Draft& draft, const Bill& bill) {
  const auto call = agent_call(reply.text);
  if (!call.ok()) return call.error().message() + "\n";
  if (call->tool == "lineage") return lineage_text(request);
  if (call->tool == "read") return read_text(request, call->words);
  if (call->tool == "other") return other_text(request);
  if (call->tool == "verdict") return request.last ? verdict_text(*request.last) : "It was not judged.\n";
  if (call->tool == "notes") return once(asked, reply, [&] { return find(call->words); });
  if (call->tool == "learn") return once(asked, reply, [&] { return learn(call->words); });
  if (const Status taken = take(*call, reply, request, draft); !taken.ok()) return unusable(taken.error());
  if (call->tool == "edit") return "It parses, and imports what it may. Submit it, or go on.\n";
  if (call->tool == "profile" && draft.code.empty()) return profile(request, draft);
  if (draft.code.empty()) return "There is no draft yet.\n";
  if (call->tool == "submit") return submit(draft);
  if (call->tool == "compile") return once(asked, reply, [&] { return compiled(request, draft); });
  MTMC_TRY(const std::string verdict, judged(request, draft, bill));
  return call->tool == "judge" || draft.verdict == nullptr ? verdict : profile(request, draft);
}

Result<std::string> AgentCoder::once(const ChatRequest& asked, const ChatReply& reply,
                                     const std::function<Result<std::string>()>& done) const {
  std::string said = asked.system;
  for (const ChatMessage& message : asked.messages) said += "\n" + message.text;
  const std::string key = sha256(said + "\n" + reply.text);
  MTMC_TRY(const std::optional<std::string> known, store_.recall("agent", key));
  if (known) return Json::parse(*known).get<std::string>();
  MTMC_TRY(std::string answer, done());
  MTMC_RETURN_IF_ERROR(
      store_.remember("agent", key, Json(answer).dump(-1, ' ', false, Json::error_handler_t::replace)));
  return answer;
}

// A diff changes the draft, where there is one.
Status AgentCoder::edit(const ChatReply& reply, const CoderRequest& request, Draft& draft) const {
  MTMC_TRY(std::string code, code_in(reply, draft.code.empty() ? request.state.code.text : draft.code));
  draft = {.code = std::move(code), .judged = draft.judged};
  return ok_status();
}

Status AgentCoder::take(const AgentCall& call, const ChatReply& reply, const CoderRequest& request,
                        Draft& draft) const {
  if (call.tool == "edit") return edit(reply, request, draft);
  const auto shown = code_of(reply.text, draft.code);
  return !call.code || (shown.ok() && *shown == draft.code) ? ok_status() : edit(reply, request, draft);
}

Result<std::string> AgentCoder::compiled(const CoderRequest& request, const Draft& draft) const {
  if (request.drafts == nullptr) return "Nothing can be compiled here.\n";
  MTMC_TRY(const std::optional<std::string> said, request.drafts->compile(draft.code));
  if (!said) return "Nothing is compiled here.\n";
  return said->empty() ? "It compiles, as far as that is known without a call.\n" : *said + "\n";
}

Result<std::string> AgentCoder::judged(const CoderRequest& request, Draft& draft, const Bill& bill) const {
  const int most = options().agent_judgements;
  if (draft.verdict == nullptr) {
    if (request.drafts == nullptr) return "Nothing can be judged here.\n";
    if (draft.judged >= most) return fmt::format("No more drafts can be judged: {} of {} were.\n", draft.judged, most);
    MTMC_TRY(draft.verdict, request.drafts->judge(draft.code, bill.draft_note(client().model().name)));
    if (draft.verdict == nullptr) return "The search has nothing left but the judgement of what you submit.\n";
    ++draft.judged;
  }
  return verdict_text(*draft.verdict) + fmt::format("{} more drafts can be judged.\n", most - draft.judged);
}

// Without a draft, of the code that the step starts from.
std::string AgentCoder::profile(const CoderRequest& request, const Draft& draft) const {
  const Verdict* verdict = draft.code.empty() ? request.last : draft.verdict;
  if (verdict == nullptr) return "It was not judged.\n";
  const std::vector<std::string> lines = profile_lines(*verdict);
  return verdict_text(*verdict) + (lines.empty() ? "No profile was made of it." : join(lines, "\n")) + "\n";
}

std::string AgentCoder::submit(Draft& draft) const {
  draft.submitted = draft.criticised;
  draft.criticised = true;
  return "Before it counts, look for mistakes in your draft: other values, NaN and infinities, strides, sums that lose "
         "digits, races, memory behind the end, work that is done twice. Edit it, or submit it again.\n\n" +
         with_line_numbers(draft.code);
}

std::string AgentCoder::find(const std::string& question) const {
  std::string text;
  for (const Note* note : find_notes(notes_, question, facts().target.name, kFound))
    text += fmt::format("## {}\n{}\n", note->title, note->text);
  return text.empty() ? "Nothing is known about that.\n" : text;
}

// That it was learned is remembered first: a process may end in between.
Result<std::string> AgentCoder::learn(const std::string& words) const {
  const size_t bar = words.find('|');
  if (options().knowledge.empty()) return "There is no folder for what is learned (--knowledge).\n";
  if (bar == words.npos) return "That cannot be kept: wanted TITLE | TEXT.\n";
  const std::string title = client().scrub(std::string(trim(std::string_view(words).substr(0, bar)))),
                    text = client().scrub(std::string(trim(std::string_view(words).substr(bar + 1))));
  const Note note{title, std::string(facts().target.name) + "; learned by " + name(), text + "\n"};
  MTMC_RETURN_IF_ERROR(store_.remember(kLearned, digest_of({note}), Json(title).dump()));
  const Status added = add_note(options().knowledge, note);
  return added.ok() ? "It is kept.\n" : added.error().message() + "\n";
}

extern const CoderDef agent_def;
const CoderDef agent_def{
    "agent", "a large language model that looks things up, drafts and checks before it submits: --model", "",
    [](const CoderContext& context) -> Result<std::unique_ptr<Coder>> {
      MTMC_TRY(LlmParts parts, llm_parts(context));
      MTMC_TRY(std::unique_ptr<AgentCoder> agent, AgentCoder::open(std::move(parts)));
      return std::unique_ptr<Coder>(std::move(agent));
    },
    /*asks_model=*/true};

}  // namespace mtmc
