#include "report/html.h"

#include <fmt/format.h>

namespace mtmc {

std::string escape_html(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      case '\'': safe += "&#39;"; break;
      default: safe += c;
    }
  }
  return safe;
}

std::string tone(const ReportData& data, const NodeRecord& node) {
  const Verdict* verdict = node.verdict();
  if (!verdict) return "none";
  if (!verdict->certified()) return "refused";
  if (node.id == data.best) return "best";
  return verdict->tier == Tier::certify ? "good" : "passed";
}

std::string verdict_badge(const NodeRecord& node) {
  const Verdict* verdict = node.verdict();
  const char* look = !verdict ? "none" : !verdict->certified() ? "bad" : verdict->estimated() ? "warn" : "good";
  return fmt::format("<span class='badge {}'>{}</span>", look, escape_html(verdict_word(node)));
}

std::string html_report(const ReportData& data) {
  std::string page = fmt::format(
      "<!doctype html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n"
      "<meta name='viewport' content='width=device-width, initial-scale=1'>\n<meta name='color-scheme' content='light "
      "dark'>\n<title>{} · mtmc</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n",
      escape_html(data.run.task.name), kReportStyle);
  for (const auto section : {headline_section, usage_section, chart_section, tree_section, time_section, steps_section,
                             evidence_section, machine_section})
    page += section(data);
  page += fmt::format("</main>\n<script>{}</script>\n</body>\n</html>\n", kReportScript);
  return page;
}

}  // namespace mtmc
