#include "coder/coding_prompt.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "coder_examples.h"
#include "coder_guides.h"

namespace mtmc {
namespace {

constexpr size_t kShownErrors = 3;
constexpr size_t kShownMessage = 4000;  // bytes of a compiler's message
// What only language models are asked for, beside the actions: name, what to do, law.
struct Wish {
  std::string_view type, doc, law;
};
constexpr Wish kWishes[] = {
    {"repair", "Mend what the judge refuses.",
     "code that is refused  becomes  code that does what it was meant to do and is certified"},
    {"rewrite", "Make the module faster, by whatever change you think best.",
     "a module  becomes  a faster one with the same results"},
    {"everything", "Take all actions below at once, wherever they make the module faster.",
     "a module  becomes  a faster one with the same results"},
};

const Wish* find_wish(std::string_view type) {
  const auto* found =
      std::find_if(std::begin(kWishes), std::end(kWishes), [&](const Wish& wish) { return wish.type == type; });
  return found == std::end(kWishes) ? nullptr : found;
}

std::string fenced(std::string_view code) {
  return fmt::format("```python\n{}{}```\n", code, code.ends_with('\n') ? "" : "\n");
}

// The text between "## name" with its fence and the fence's end.
std::string section(std::string_view text, const std::string& name) {
  const std::string open = "\n## " + name + "\n\n```python\n";
  const size_t begin = text.find(open);
  MTMC_CHECK(begin != text.npos, "a worked example without " + name);
  const size_t end = text.find("\n```\n", begin + open.size());
  return std::string(text.substr(begin + open.size(), end + 1 - begin - open.size()));
}

std::vector<WorkedExample> read_examples() {
  std::vector<WorkedExample> examples;
  for (const auto& [stem, text] : kExamples) {
    const size_t bar = stem.find('_');
    examples.push_back({std::string(stem.substr(0, bar)), std::string(stem.substr(bar + 1)),
                        std::string(text.substr(0, text.find('\n'))), section(text, "task"), section(text, "before"),
                        section(text, "after")});
  }
  return examples;
}

std::string action_text(const CoderRequest& request) {
  if (!request.text.empty()) return std::string(request.text);
  const CodeState& state = request.state;
  return state.program ? render(request.action, *state.program, state.code) : store_text(request.action);
}

std::string action_section(const CoderRequest& request) {
  std::string text = action_text(request) + "\n";
  const ActionDef* def = find_action(request.action.type);
  if (def != nullptr)
    text += fmt::format("\n{}: {}\nLaw: {}\n", def->name, def->doc, def->law);
  else if (const Wish* wish = find_wish(request.action.type))
    text += fmt::format("\n{}: {}\nLaw: {}\n", wish->type, wish->doc, wish->law);
  if (request.action.type == "everything")
    for (const ActionDef* one : all_actions())
      if (one->name != "stop") text += fmt::format("- {}: {}\n", one->name, one->doc);
  return text;
}

std::string example_section(const CoderRequest& request, const TargetDef& target) {
  std::string text;
  for (const WorkedExample& example : worked_examples())
    if (example.target == target.name && example.type == request.action.type)
      text += fmt::format("## Before\n\n{}\n## Action\n\n{}\n\n## After\n\n{}", fenced(example.before), example.action,
                          fenced(example.after));
  return text;
}

// What a repair starts from: the step that went wrong, and why it did.
std::string failure_section(const CoderRequest& request) {
  std::string text;
  if (request.origin != nullptr)
    text += fmt::format(
        "The code above is what became of this step: {}\n\nThe code before that step, which is right:\n\n{}\n",
        request.origin->action, fenced(request.origin->before.code.text));
  if (request.last != nullptr) text += "The judge refuses the code above:\n" + describe_refusal(*request.last) + "\n";
  return text;
}

std::string system_text(const PromptFacts& facts, std::string_view type) {
  const std::string step = type == "rewrite" || type == "everything"
                               ? "You make a PyTorch module faster."
                               : "You make a PyTorch module faster, one step at a time. A step changes the code by the "
                                 "one action that is named, in the lines that it names, and leaves everything else as "
                                 "it is.";
  return fmt::format(
      "{} The file defines ModelNew, a torch.nn.Module with "
      "the "
      "constructor, the parameters and buffers (by name) and the results of the module that it stands for. It is "
      "compiled, "
      "run on hidden inputs of the same shapes, compared with a float64 truth and timed; copies of inputs, results "
      "that are "
      "kept from earlier calls, lower precision and calls of the original module are found and refused.\n\n{}\n"
      "Answer with the whole new file in one Python block, without line numbers.",
      step, guide_of(facts.target.name));
}

}  // namespace

const std::vector<WorkedExample>& worked_examples() {
  static const std::vector<WorkedExample> examples = read_examples();
  return examples;
}

std::string_view guide_of(std::string_view target) {
  for (const auto& [stem, text] : kGuides)
    if (stem == target) return text;
  return "";
}

std::string with_line_numbers(std::string_view code) {
  std::vector<std::string> lines = split(code, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i) text += fmt::format("{:>4} | {}\n", i + 1, lines[i]);
  return text;
}

std::string describe_refusal(const Verdict& verdict) {
  std::string message = verdict.message.substr(0, kShownMessage);
  std::string text = fmt::format("{} at the stage {}: {}\n", verdict.reason, verdict.stage, message);
  std::vector<OutputError> wrong;
  for (const OutputError& error : verdict.errors)
    if (!error.broken.empty()) wrong.push_back(error);
  for (size_t i = 0; i < wrong.size() && i < kShownErrors; ++i)
    text += fmt::format(
        "output {} on {}: relative error {:.3g}, allowed {:.3g}; largest element off by {:.3g}, allowed {:.3g}\n",
        wrong[i].output, wrong[i].draw, wrong[i].error, wrong[i].limit, wrong[i].max_error, wrong[i].max_limit);
  return text;
}

ChatRequest coding_prompt(const CoderRequest& request, const PromptFacts& facts) {
  const bool paper = facts.style == PromptStyle::paper;
  std::string text;
  if (!paper) {
    text += "# Machine\n\n" + hardware_line(facts.hardware) + "\n\n";
    if (!facts.description.empty()) text += "# Task\n\n" + facts.description + "\n\n";
  }
  text += "# Kernel code\n\n" + with_line_numbers(request.state.code.text) + "\n";
  text += "# Action\n\n" + action_section(request) + "\n";
  if (const std::string examples = example_section(request, facts.target); !examples.empty())
    text += "# Examples\n\n" + examples + "\n";
  if (const std::string failure = paper ? "" : failure_section(request);
      !failure.empty() && request.action.type == "repair")
    text += "# Verdict\n\n" + failure + "\n";
  text += "Write the kernel code after this action, whole, in one Python block without line numbers.\n";
  return {.system = paper ? "" : system_text(facts, request.action.type),
          .messages = {{Speaker::user, text}},
          .seconds_left = request.seconds_left};
}

ChatRequest continued(ChatRequest request, const std::string& answer) {
  request.messages.push_back({Speaker::assistant, answer});
  request.messages.push_back(
      {Speaker::user,
       "Your answer broke off. Go on exactly where it stopped: no greeting, nothing again, no new block."});
  return request;
}

}  // namespace mtmc
