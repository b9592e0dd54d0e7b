#include "coder/llm.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "coder/answer.h"
#include "coder/beyond.h"
#include "source/regions.h"

namespace mtmc {
namespace {

constexpr int kContinuations = 3;  // of an answer that broke off
constexpr size_t kRegions = 8;     // of each type that are offered
// What may be asked of code without a Program, in the order in which it is offered.
constexpr const char* kTypes[] = {"fuse",  "lower",    "tile",    "reorder",  "pipeline",
                                  "split", "simplify", "capture", "precision"};

}  // namespace

LineRange body_of(const std::string& code) {
  std::vector<std::string> lines = split(code, '\n');
  while (!lines.empty() && trim(lines.back()).empty()) lines.pop_back();
  size_t first = 0;
  for (size_t i = 0; i < lines.size() && first == 0; ++i)
    if (lines[i].starts_with("import torch")) first = i + 1;
  while (first < lines.size() &&
         (trim(lines[first]).empty() || lines[first].starts_with("import ") || lines[first].starts_with("from ")))
    ++first;
  return {static_cast<int>(std::min(first + 1, lines.size())), static_cast<int>(lines.size())};
}

namespace {

std::string refusal_text(const Error& error) {
  return fmt::format(
      "This cannot be used: {}. Answer with the whole file in one Python block: it defines ModelNew and imports only "
      "torch, "
      "triton, numpy and the standard library's means to build and call a kernel.",
      error.message());
}

}  // namespace

Result<std::string> code_in(const ChatReply& answer, const std::string& before) {
  if (answer.stop == Stop::refused) return Error{"reading the answer", "the model would not answer", "", ""};
  if (cut_short(answer.text, answer.stop) && answer.stop == Stop::length)
    return Error{"reading the answer", "it is too long", "", "an answer within --answer-tokens"};
  MTMC_TRY(std::string code, code_of(answer.text, before));
  MTMC_RETURN_IF_ERROR(check_code(code));
  if (code == before) return Error{"reading the answer", "the code is what it was", "", "code after the action"};
  return code;
}

std::vector<Proposal> numbered(const std::string& type, const std::string& word, int steps, const CodeState& state,
                               const std::vector<Proposal>& legal) {
  const LineRange lines = body_of(state.code.text);
  const bool beyond = state.program != nullptr;
  std::vector<std::vector<ValueId>> regions;
  if (beyond) regions = beyond_reach(*state.program, legal);
  if (beyond && regions.empty()) return {};
  std::vector<Proposal> proposals;
  for (int step = 1; step <= steps; ++step) {
    const std::string number = step == 1 ? "" : fmt::format("{} {}", word, step);
    proposals.push_back(
        {{type, regions, replace_all(number, " ", "_")},
         fmt::format("{} in lines {}-{}{}{}", type, lines.first, lines.last, number.empty() ? "" : ", ", number),
         beyond});
  }
  return proposals;
}

LlmCoder::LlmCoder(LlmParts parts)
    : exchanges_(parts.store),
      ledger_(parts.ledger),
      before_(ledger_.spent()),
      client_(std::move(parts.client), ledger_, exchanges_),
      facts_(std::move(parts.facts)),
      options_(parts.options),
      paper_only_(parts.paper_only),
      ahead_([this](const ChatRequest& asked) {
        Bill bill;
        Result<ChatReply> reply = ask(asked, bill);
        return QuestionsAhead::Answer{std::move(reply), std::move(bill)};
      }) {}

std::string LlmCoder::name_of(const std::string& coder) const {
  std::string text = coder + ":" + client_.model().name;
  if (options_.prompt == PromptStyle::paper) text += " paper";
  if (options_.repairs != LlmOptions().repairs) text += fmt::format(" repairs={}", options_.repairs);
  return text;
}

Result<ChatReply> LlmCoder::whole_answer(const ChatRequest& asked, Bill& bill) {
  const std::optional<QuestionsAhead::Answer> ahead = ahead_.take(asked);
  if (!ahead) return ask(asked, bill);
  bill.add(ahead->bill);
  return ahead->reply;
}

Result<ChatReply> LlmCoder::ask(const ChatRequest& asked, Bill& bill) {
  std::string text;
  std::vector<std::string> exchanges;
  for (int part = 0;; ++part) {
    MTMC_TRY(ChatReply reply, client_.ask(part == 0 ? asked : continued(asked, text)));
    bill.add(reply);
    exchanges.push_back(reply.exchange);
    const bool silent = trim(reply.text).empty();
    text = part == 0 ? reply.text : joined(std::move(text), reply.text);
    reply.text = text;
    const bool no_more = reply.stop != Stop::length && part > 0;  // it has nothing to add
    if (!silent && part < kContinuations && cut_short(text, reply.stop) && !no_more) continue;
    bill.answers.push_back(std::move(exchanges));
    return reply;
  }
}

std::optional<Error> LlmCoder::given_up() const {
  const std::optional<Error> ended = client_.ended();
  return ended && ahead_.any_answered() ? std::nullopt : ended;
}

ChatRequest LlmCoder::question(const CoderRequest& request) const {
  ChatRequest asked = coding_prompt(request, facts_);
  asked.answer_tokens = options_.answer_tokens;
  return asked;
}

Result<Implementation> LlmCoder::implement(const CoderRequest& request) {
  ChatRequest asked = question(request);
  Bill bill;
  for (int repair = 0;; ++repair) {
    MTMC_TRY(const ChatReply answer, whole_answer(asked, bill));
    auto code = code_in(answer, request.state.code.text);
    if (code.ok()) return Implementation{nullptr, Code{.text = std::move(*code)}, bill.note(client_.model().name)};
    if (repair >= options_.repairs || answer.stop != Stop::end) return code.error();  // it would say no more
    if (!trim(answer.text).empty()) asked.messages.push_back({Speaker::assistant, answer.text});
    if (asked.messages.back().speaker == Speaker::assistant)
      asked.messages.push_back({Speaker::user, refusal_text(code.error())});
    else  // an empty answer: the same question in other words
      asked.messages.back().text += "\n" + refusal_text(code.error()) + "\n";
  }
}

Result<std::vector<Proposal>> LlmCoder::proposals(const CodeState& state, const std::vector<Proposal>& legal) {
  if (state.program != nullptr) return proposals_beyond(state, legal, {facts_.hardware, facts_.target, paper_only_});
  std::vector<Proposal> proposals;
  std::vector<std::vector<Proposal>> by_type;
  size_t most = 0;
  const auto found = regions_of(state.code.text, Language::python, kRegions);
  const LineRange lines = body_of(state.code.text);
  for (const char* type : kTypes) {
    const ActionDef* def = find_action(type);
    MTMC_CHECK(def != nullptr, std::string("no action is called ") + type);
    if (paper_only_ && !def->in_paper) continue;
    std::vector<Proposal>& some = by_type.emplace_back();
    if (found.ok())
      for (const SourceRegion& region : *found)
        if (region.action == type) some.push_back({{type, {}, region.word()}, region.text()});
    if (some.empty()) some.push_back({{type, {}, ""}, fmt::format("{} in lines {}-{}", type, lines.first, lines.last)});
    most = std::max(most, some.size());
  }
  for (size_t turn = 0; turn < most; ++turn)  // types take turns
    for (const std::vector<Proposal>& some : by_type)
      if (turn < some.size()) proposals.push_back(some[turn]);
  return proposals;
}

std::optional<Proposal> LlmCoder::repair(const CodeState& state, const Verdict& verdict, int repairs) {
  if (state.program != nullptr || repairs >= options_.repairs) return std::nullopt;
  const LineRange lines = body_of(state.code.text);
  return Proposal{{"repair", {}, ""}, fmt::format("repair {} in lines {}-{}", verdict.reason, lines.first, lines.last)};
}

std::string LlmCoder::account() const { return to_json(ledger_.spent() - before_).dump(); }

Result<LlmParts> llm_parts(const CoderContext& context) {
  if (context.llm == nullptr) return Error{"opening a coder that asks", "no language model can be asked here", "", ""};
  MTMC_TRY(ClientParts client, context.llm->client());
  const LlmOptions& options = context.llm->options;
  return LlmParts{std::move(client),
                  PromptFacts{context.target, context.hardware, options.prompt, context.shell.description},
                  options,
                  context.paper_only,
                  context.llm->ledger,
                  context.store};
}

extern const CoderDef llm_def;
const CoderDef llm_def{"llm", "a large language model: --model, --base-url", "",
                       [](const CoderContext& context) -> Result<std::unique_ptr<Coder>> {
                         MTMC_TRY(LlmParts parts, llm_parts(context));
                         return std::make_unique<LlmCoder>(std::move(parts));
                       },
                       /*asks_model=*/true};

}  // namespace mtmc
