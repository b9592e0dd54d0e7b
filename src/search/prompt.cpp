#include "search/prompt.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>

#include "base/text.h"
#include "targets/target.h"

namespace mtmc {
namespace {

constexpr int kEverything = std::numeric_limits<int>::max();
constexpr int kMargins[] = {64, 32, 16, 8, 4, 2, 1, 0};
constexpr int kLongRegion = 40;  // lines
constexpr size_t kLongLine = 160, kLongDescription = 400;
constexpr size_t kLastSteps = 3;

// How much is shown.
struct Plan {
  int margin = kEverything;  // lines around each region
  bool shortened = false;    // long regions by their ends
  size_t history = kEverything, regions = kEverything;
};

std::vector<Plan> plans(size_t regions) {
  std::vector<Plan> all = {{}};
  for (int margin : kMargins) all.push_back({.margin = margin});
  all.push_back({.margin = 0, .shortened = true});
  all.push_back({.margin = 0, .shortened = true, .history = kLastSteps});
  for (size_t some = regions; some > 0;) {
    some /= 2;
    all.push_back({.margin = 0, .shortened = true, .history = kLastSteps, .regions = some});
  }
  return all;
}

std::string shorter(std::string_view text, size_t most) {
  return text.size() <= most ? std::string(text) : std::string(text.substr(0, most)) + " ...";
}

std::vector<bool> shown_lines(size_t lines, const std::vector<LineRange>& regions, const Plan& plan) {
  std::vector<bool> shown(lines, plan.margin == kEverything);
  if (plan.margin == kEverything) return shown;
  const auto show = [&](int first, int last) {
    for (int line = std::max(1, first); line <= last && line <= static_cast<int>(lines); ++line) shown[line - 1] = true;
  };
  for (size_t r = 0; r < regions.size() && r < plan.regions; ++r) {
    const auto [first, last] = regions[r];
    if (plan.shortened && last - first + 1 > kLongRegion) {
      show(first, first + kLongRegion / 2 - 1);
      show(last - kLongRegion / 2 + 1, last);
    } else {
      show(first - plan.margin, last + plan.margin);
    }
  }
  return shown;
}

std::string numbered(const std::vector<std::string>& lines, const std::vector<bool>& shown) {
  std::string text;
  for (size_t i = 0; i < lines.size();) {
    if (shown[i]) {
      text += fmt::format("{:>4} | {}\n", i + 1, shorter(lines[i], kLongLine));
      ++i;
      continue;
    }
    const size_t first = i;
    while (i < lines.size() && !shown[i]) ++i;
    text += fmt::format("     ... {} {} left out ...\n", i - first, i - first == 1 ? "line" : "lines");
  }
  return text;
}

std::string past(const std::vector<HistoryStep>& history, size_t most) {
  std::string text;
  const size_t first = history.size() - std::min(history.size(), most);
  if (first > 0) text += fmt::format("... {} earlier ...\n", first);
  for (size_t i = first; i < history.size(); ++i) {
    const HistoryStep& step = history[i];
    const std::string effect = step.speedup > 0 ? fmt::format("{:.2f}x eager", step.speedup) : step.outcome;
    text += fmt::format("{}. {}: {}\n", i + 1, step.action, effect);
  }
  return text;
}

std::string render_prompt(const PromptParts& parts, const std::vector<std::string>& lines, const Plan& plan) {
  std::string text = "hardware: " + parts.hardware + "\ntask: " + shorter(parts.description, kLongDescription) + "\n";
  if (!parts.history.empty()) text += "history:\n" + past(parts.history, plan.history);
  text += fmt::format("step {} of {}\n", parts.step + 1, parts.steps);
  text += "code:\n" + numbered(lines, shown_lines(lines.size(), parts.regions, plan));
  if (parts.left_out > 0) text += fmt::format("{} more actions are not offered\n", parts.left_out);
  return text + "next action:";
}

}  // namespace

size_t quarter_of_characters(std::string_view text) { return (text.size() + 3) / 4; }

LineRange lines_in(std::string_view rendered) {
  size_t at = rendered.rfind(" in line");
  if (at == rendered.npos) return {};
  at = rendered.find_first_of("0123456789", at);
  if (at == rendered.npos) return {};
  LineRange range;
  const char* const end = rendered.data() + rendered.size();
  const char* next = std::from_chars(rendered.data() + at, end, range.first).ptr;
  range.last = range.first;
  if (next != end && *next == '-') std::from_chars(next + 1, end, range.last);
  return range;
}

Result<std::string> prompt_text(const PromptParts& parts, const PromptOptions& options) {
  std::vector<std::string> lines = split(parts.code, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  size_t least = 0;
  for (const Plan& plan : plans(parts.regions.size())) {
    std::string text = render_prompt(parts, lines, plan);
    least = options.count(text);
    if (least <= options.context) return text;
  }
  return Error{"writing a prompt", "the context is too small", fmt::format("{} tokens", options.context),
               fmt::format("at least {} for this state's hardware, task and history", least)};
}

std::vector<LineRange> regions_of(const std::vector<std::string>& actions, const std::vector<double>& shares) {
  std::vector<size_t> by_share(actions.size());
  std::iota(by_share.begin(), by_share.end(), size_t{0});
  std::stable_sort(by_share.begin(), by_share.end(), [&](size_t a, size_t b) { return shares[a] > shares[b]; });
  std::vector<LineRange> regions;
  for (size_t i : by_share) {
    const LineRange region = lines_in(actions[i]);
    const bool has_lines = region.first > 0, known = std::count(regions.begin(), regions.end(), region) > 0;
    if (has_lines && !known) regions.push_back(region);
  }
  return regions;
}

Code program_text(const Program& program) {
  return find_target("null")->emit(program, null_hardware(), ModuleShell{}).value();
}

Result<PolicyView> policy_view(const Observation& observation, const std::vector<Proposal>& proposals,
                               const ActionContext& context, const PromptOptions& options) {
  PolicyView view;
  std::vector<double> shares(proposals.size(), 0);
  if (observation.program != nullptr) shares = time_shares(proposals, *observation.program, context);
  view.offer = first_pass(proposals, shares);
  const bool program = options.program && observation.program != nullptr;
  const Code shown = program ? program_text(*observation.program) : Code{};
  std::vector<double> offered;
  for (size_t i : view.offer.kept) {
    view.actions.push_back(program ? render(proposals[i].action, *observation.program, shown) : proposals[i].text);
    offered.push_back(shares[i]);
  }
  const PromptParts parts{.hardware = observation.hardware,
                          .description = observation.description,
                          .code = program ? shown.text : observation.code,
                          .history = observation.history,
                          .step = observation.step,
                          .steps = observation.steps,
                          .regions = regions_of(view.actions, offered),
                          .left_out = view.offer.left_out};
  MTMC_TRY(view.prompt, prompt_text(parts, options));
  return view;
}

}  // namespace mtmc
