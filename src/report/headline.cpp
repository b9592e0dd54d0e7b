// The first screen: what was gained, whether it is certified, and how to use it.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "eval/stats.h"
#include "ir/program.h"
#include "report/html.h"
#include "report/task_command.h"

namespace mtmc {
namespace {

std::string tile(const std::string& look, const std::string& label, const std::string& figure,
                 const std::string& detail) {
  return fmt::format(
      "<div class='card tile {}'><div class='label'>{}</div><div class='figure'>{}</div><div "
      "class='detail'>{}</div></div>\n",
      look, label, figure, detail);
}

std::optional<double> median(const Verdict& verdict, const std::string& name) {
  const auto found = verdict.times.find(name);
  return found == verdict.times.end() ? std::nullopt : std::optional<double>(found->second.median_ms);
}

// `gained`: the result is another file than what eager does.
std::string speed_tile(const Verdict& verdict, const std::string& baseline, const std::string& label, bool gained) {
  const Speedup* speedup = speedup_over(verdict, baseline);
  if (!speedup) return tile("", label, "–", "not measured");
  std::string detail = fmt::format("{} → {}", format_ms(median(verdict, baseline)), format_ms(verdict.time_ms));
  if (speedup->low < speedup->high)
    detail += fmt::format("<br>{:.0f} % sure: {}", 100 * level_of(verdict.tier), format_interval(*speedup));
  return tile(gained && headline(*speedup) > 1 ? "main" : "", label, format_claim(speedup), detail);
}

// How much of its limit the worst error uses, over the draws that count.
std::string error_line(const Verdict& verdict) {
  double worst = -1;
  for (const OutputError& error : verdict.errors)
    if (error.counts && error.limit > 0) worst = std::max(worst, error.error / error.limit);
  return worst < 0 ? "no error was measured" : fmt::format("the worst error uses {:.0f} % of its limit", 100 * worst);
}

std::string accuracy_tile(const Verdict& verdict) {
  if (verdict.errors.empty()) return tile("", "Accuracy class", "–", "not measured");
  const std::string name = verdict.accuracy_class.empty() ? "–" : verdict.accuracy_class;
  return tile("", "Accuracy class", escape_html(name),
              verdict.accuracy_class == "exact" ? "bit for bit what eager returns" : error_line(verdict));
}

std::string roofline_tile(const ReportData& data) {
  const auto share = roofline_share(data);
  if (!share) return tile("", "Of the roofline", "–", "the least possible time is not known");
  const double percent = std::min(100.0, 100 * *share);
  return tile("", "Of the roofline", fmt::format("{:.0f} %", 100 * *share),
              fmt::format("<div class='meter'><i style='width:{:.1f}%'></i></div>the least possible time is {}",
                          percent, format_ms(data.roofline_seconds * 1e3)));
}

std::string seal(const ReportData& data) {
  const Verdict* verdict = data.best_verdict();
  if (!verdict) return "<span class='badge bad seal'>nothing certified</span>";
  if (verdict->errors.empty()) return "<span class='badge warn seal'>estimated, nothing was run</span>";
  if (verdict->tier == Tier::screen) return "<span class='badge warn seal'>screened, not certified</span>";
  return "<span class='badge good seal'>✓ certified</span>";
}

std::string as_fast_as(const Speedup& speedup, const std::string& baseline) {
  if (!has_figure(speedup)) return say(speedup, baseline);
  const bool wide = claim(speedup) == Claim::at_least;
  if (wide && speedup.high < 1)
    return fmt::format("{} to {} as fast as {}", format_speedup(speedup.low), format_speedup(speedup.high), baseline);
  return fmt::format("{}{} as fast as {}", wide ? "at least " : "", format_speedup(headline(speedup)), baseline);
}

std::string warnings(const ReportData& data) {
  std::string text;
  const Verdict* verdict = data.best_verdict();
  if (verdict && verdict->degenerate)
    text +=
        "<p class='note'><span class='badge warn'>degenerate task</span> Zeros, a constant or a copy of an input "
        "would pass this task too: its result proves little, and headline figures leave it out.</p>";
  const Speedup* eager = speedup_over(verdict, "eager");
  if (eager && !has_figure(*eager))
    text += fmt::format(
        "<p class='note'><span class='badge warn'>busy machine</span> All that the times allow to say is that it is {} "
        "as fast as eager: measure again on an idle machine.</p>",
        format_interval(*eager));
  if (!data.rewrites.empty())
    text += fmt::format(
        "<p class='note'><span class='badge info'>graph rewritten</span> {}. The actions that did it change what is "
        "computed, not only how; the result was judged like any other.</p>",
        escape_html(join(data.rewrites, "; ")));
  if (data.run.state != RunState::done)
    text += fmt::format("<p class='note'><span class='badge warn'>run {}</span> This is what it had found so far.</p>",
                        to_string(data.run.state));
  return text;
}

std::string lead(const ReportData& data) {
  const Verdict* verdict = data.best_verdict();
  if (!verdict)
    return fmt::format("None of the {} attempts passed the judge; the tree below says why.", data.nodes.size());
  const size_t steps = data.path().size() - 1;
  const std::string work =
      fmt::format("{} candidate{} {} in {:.0f} s", data.evaluations(), data.evaluations() == 1 ? "" : "s",
                  verdict->estimated() ? "priced" : "judged", data.run.seconds);
  if (data.answer() == "at-roofline")
    return "The module already runs at the roofline of this machine: nothing to gain.";
  if (data.answer() == "unclear")
    return "Nothing is surely faster than eager: this machine was too busy to say; " + work + ".";
  if (steps == 0) return "Nothing that was tried is faster than the untouched module: " + work + ".";
  std::string text;
  if (const Speedup* eager = speedup_over(*verdict, "eager")) {
    text = (verdict->estimated() ? "by the cost model " : "") + as_fast_as(*eager, "eager PyTorch");
    text = fmt::format("<b>{}{}</b>", static_cast<char>(std::toupper(text.front())), text.substr(1));
  }
  if (const Speedup* compile = speedup_over(*verdict, "compile"); compile && has_figure(*compile))
    text += fmt::format(" and {}", as_fast_as(*compile, "torch.compile"));
  return fmt::format("{} after {} step{}; {}.", text, steps, steps == 1 ? "" : "s", work);
}

// "f32[64,512], f32[512]": what forward takes.
std::string argument_types(const ReportData& data) {
  const auto program = parse_program(data.nodes.empty() ? "" : data.nodes[0].program);
  if (!program.ok()) return "";
  std::vector<std::string> types;
  for (const Value& value : program->values)
    if (value.kind == ValueKind::input) types.push_back(value.name + " " + to_string(value.type));
  return join(types, ", ");
}

std::string python_text(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  return value.is_null() ? "None" : value.dump();
}

std::string constructor_call(const Json& task) {
  std::vector<std::string> arguments;
  if (task.contains("init_args") && task["init_args"].is_array())
    for (const Json& argument : task["init_args"]) arguments.push_back(python_text(argument));
  if (task.contains("init_kwargs") && task["init_kwargs"].is_object())
    for (const auto& [name, value] : task["init_kwargs"].items()) arguments.push_back(name + "=" + python_text(value));
  if (arguments.empty() && !task.contains("init_args")) arguments.push_back("*get_init_inputs()");
  return "ModelNew(" + join(arguments, ", ") + ")";
}

}  // namespace

std::string headline_section(const ReportData& data) {
  std::string html = fmt::format(
      "<header>\n<div class='eyebrow'>mtmc · run {} · {} · {}</div>\n<h1>{} {}</h1>\n<p class='lead'>{}</p>\n{}",
      data.run.id, escape_html(data.run.target), escape_html(data.run.started), escape_html(data.run.task.name),
      seal(data), lead(data), warnings(data));
  if (const Verdict* verdict = data.best_verdict()) {
    const bool gained = data.path().size() > 1;
    html += "<div class='tiles'>\n" + speed_tile(*verdict, "eager", "Over eager PyTorch", gained) +
            speed_tile(*verdict, "compile", "Over torch.compile", gained) + accuracy_tile(*verdict) +
            roofline_tile(data) + "</div>\n";
  }
  return html + "</header>\n";
}

std::string usage_section(const ReportData& data) {
  if (data.best == kNoNode || !data.is_module) return "";
  const Json task = Json::parse(data.run.task.json, nullptr, false);
  const auto [target, options] = task_command(task, data.run.task.name);
  const std::string attr = task.is_object() ? task.value("attr", "Model") : "Model";
  const std::string types = argument_types(data);
  const std::string needs = data.software.empty() ? "torch" : "torch and " + data.software;
  const std::vector<std::pair<std::string, std::string>> lines = {
      {"from kernel import ModelNew", "kernel.py stands alone: it needs " + needs + ", not mtmc."},
      {"model = " + constructor_call(task.is_object() ? task : Json::object()),
       "The same constructor, parameters and buffers as " + attr + "."},
      {"model.load_state_dict(original.state_dict())", "Weights are inputs: it follows every later change of them."},
      {"y = model(x)", (types.empty() ? "The shapes it was made for" : "Made for " + types) +
                           "; another shape raises an error, gradients are not computed."},
      {"mtmc verify " + target + " kernel.py" + options, "Judges it again on your machine, with all defences."}};
  std::string html = "<section class='card'>\n<h2>Use it</h2>\n<ol class='use'>\n";
  for (const auto& [code, why] : lines)
    html += fmt::format("<li><code>{}</code><span>{}</span></li>\n", escape_html(code), escape_html(why));
  return html + "</ol>\n</section>\n";
}

}  // namespace mtmc
