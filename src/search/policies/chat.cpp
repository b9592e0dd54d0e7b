#include "search/chat.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/text.h"
#include "coder/llm.h"
#include "search/prompt.h"

namespace mtmc {
namespace {

constexpr size_t kTokens = 16000;  // of the prompt, without the actions
constexpr int kQuestions = 3;      // until an answer can be read

std::string question(const PolicyView& view) {
  std::string text = view.prompt + "\n# Actions\n\n";
  for (size_t i = 0; i < view.actions.size(); ++i) text += fmt::format("{}. {}\n", i + 1, view.actions[i]);
  return text +
         "\nWhich action should be taken next, to make the module as fast as possible in the end? Answer in one line "
         "with "
         "the numbers of the actions that are worth a try, best first, separated by commas. End it with the number of "
         "stop where nothing else is.\n";
}

// The numbers of the last line that has any; an Error when one is no action's.
Result<std::vector<size_t>> numbers_in(const std::string& answer, size_t actions) {
  std::vector<std::string> lines = split(answer, '\n');
  const auto has_number = [](const std::string& line) { return line.find_first_of("0123456789") != line.npos; };
  while (!lines.empty() && !has_number(lines.back())) lines.pop_back();
  std::vector<size_t> numbers;
  const std::string line = lines.empty() ? "" : lines.back();
  for (size_t at = line.find_first_of("0123456789"); at != line.npos; at = line.find_first_of("0123456789", at)) {
    const size_t end = std::min(line.size(), line.find_first_not_of("0123456789", at));
    const std::string digits = line.substr(at, end - at);
    const size_t number = digits.size() > 6 ? 0 : std::stoul(digits);
    if (number < 1 || number > actions)
      return Error{"reading which action is next", "there is no such action", digits, fmt::format("1 to {}", actions)};
    if (std::find(numbers.begin(), numbers.end(), number - 1) == numbers.end()) numbers.push_back(number - 1);
    at = end;
  }
  if (numbers.empty())
    return Error{"reading which action is next", "there is no number", "'" + answer.substr(0, 60) + "'", "3, 1, 7"};
  return numbers;
}

class ChatPolicy final : public Policy {
 public:
  ChatPolicy(const PolicyContext& context, ClientParts parts)
      : context_{context.hardware, context.target, context.paper_only},
        ledger_(context.llm->ledger),
        before_(ledger_.spent()),
        answer_tokens_(context.llm->options.answer_tokens),
        exchanges_(*context.store),
        client_(std::move(parts), ledger_, exchanges_) {
    options_.context = kTokens;
  }
  std::string name() const override { return "chat:" + client_.model().name; }
  std::string account() const override { return to_json(ledger_.spent() - before_).dump(); }

  // What the model does not name stands behind `stop`.
  Result<Ranking> rank(const Observation& observation, const std::vector<Proposal>& proposals) override {
    MTMC_TRY(const PolicyView view, policy_view(observation, proposals, context_, options_));
    std::string text = question(view);
    if (observation.visit > 0) text += fmt::format("This is asked for the {}. time.\n", observation.visit + 1);
    ChatRequest asked{.system = "", .messages = {{Speaker::user, text}}, .answer_tokens = answer_tokens_};
    asked.seconds_left = observation.seconds_left;
    for (int turn = 1;; ++turn) {
      MTMC_TRY(const ChatReply reply, client_.ask(asked));
      const auto numbers = numbers_in(reply.text, view.actions.size());
      if (numbers.ok()) return order_of(*numbers, view, proposals);
      if (turn == kQuestions) return numbers.error();
      const std::string answer(trim(reply.text).empty() ? "(nothing)" : reply.text);
      asked.messages.push_back({Speaker::assistant, answer});
      asked.messages.push_back(
          {Speaker::user, "This cannot be used: " + numbers.error().message() + ". Answer with numbers only."});
    }
  }

 private:
  static std::vector<size_t> order_of(const std::vector<size_t>& wanted, const PolicyView& view,
                                      const std::vector<Proposal>& proposals) {
    std::vector<size_t> order;
    for (const size_t number : wanted) order.push_back(view.offer.kept[number]);
    const auto add = [&](size_t at) {
      if (std::find(order.begin(), order.end(), at) == order.end()) order.push_back(at);
    };
    for (size_t i = 0; i < proposals.size(); ++i)
      if (proposals[i].stop()) add(i);
    for (size_t i = 0; i < proposals.size(); ++i) add(i);
    return order;
  }

  ActionContext context_;
  Ledger& ledger_;
  Spent before_;
  int answer_tokens_;
  StoreExchanges exchanges_;
  ChatClient client_;
  PromptOptions options_;
};

}  // namespace

std::unique_ptr<Policy> make_chat_policy(const PolicyContext& context, ClientParts parts) {
  return std::make_unique<ChatPolicy>(context, std::move(parts));
}

extern const PolicyDef chat_def;
const PolicyDef chat_def{"chat", "a large language model that is shown the actions by number: --model, --base-url", "",
                         [](const PolicyContext& context) -> Result<std::unique_ptr<Policy>> {
                           if (context.llm == nullptr || context.store == nullptr)
                             return Error{"opening the policy chat", "no language model can be asked here", "", ""};
                           MTMC_TRY(ClientParts parts, context.llm->client());
                           return make_chat_policy(context, std::move(parts));
                         },
                         /*asks_model=*/true};

}  // namespace mtmc
