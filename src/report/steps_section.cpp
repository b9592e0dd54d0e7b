// The code of each step of the path with its difference to the parent, then every other attempt with its verdict.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "report/html.h"

namespace mtmc {
namespace {

constexpr size_t kMostOtherBytes = 3 << 20;  // differences of other attempts, so that the page stays one that opens

std::string summary(const NodeRecord& node) {
  const Verdict* verdict = node.verdict();
  const std::string name = node.parent == kNoNode ? "the module as it is" : step_name(node);
  return fmt::format(
      "<summary><span class='step'>{}</span><span class='grow'>{}</span><span class='right'>{}<span "
      "class='mono'>{}</span><b>{}</b></span></summary>\n",
      node.step, escape_html(name), verdict_badge(node), verdict && verdict->time_ms ? format_ms(verdict->time_ms) : "",
      speedup_over(verdict, "eager") ? format_claim(speedup_over(verdict, "eager")) : "");
}

// "tile0 4 unroll 8: 0.908 ms", one of the versions that the tuner timed.
std::string version(const Json& row) {
  const Json numbers = row.value("numbers", Json::object());
  std::string text;
  for (const auto& [name, number] : numbers.items()) text += (text.empty() ? "" : " ") + name + " " + number.dump();
  if (row.contains("ms") && row.at("ms").is_number()) text += ": " + format_ms(row.at("ms").get<double>());
  if (row.contains("note") && row.at("note").is_string()) text += ": " + row.at("note").get<std::string>();
  return text;
}

// What a coder says of an attempt: numbers that were timed as a list, all else as it is.
std::string coder_note(const std::string& note) {
  Json json = Json::parse(note, nullptr, false);
  std::string html;
  if (json.is_object() && json.contains("tuning")) {
    for (const auto& [kernel, rows] : json.at("tuning").items()) {
      std::string timed;
      for (const Json& row : rows)
        if (row.is_object()) timed += (timed.empty() ? "" : " · ") + version(row);
      html += fmt::format("<br>versions of {} that were timed: {}", escape_html(kernel),
                          escape_html(timed.empty() ? rows.dump() : timed));
    }
    json.erase("tuning");
  }
  const std::string rest = json.is_object() ? json.dump() : note;
  return rest.empty() || rest == "{}" ? html
                                      : html + fmt::format("<br>coder's note: <code>{}</code>", escape_html(rest));
}

std::string facts(const NodeRecord& node) {
  std::string html = "<div class='inside'>";
  const Verdict* verdict = node.verdict();
  if (verdict && !verdict->message.empty()) html += fmt::format("<p>{}</p>", escape_html(verdict->message));
  if (!node.failure.empty()) html += fmt::format("<p>No code: {}</p>", escape_html(node.failure));
  std::string line = fmt::format("node {} · coder {}", node.id, escape_html(node.coder));
  if (!node.action.empty()) line += fmt::format(" · stored as <code>{}</code>", escape_html(node.action));
  if (node.partner != kNoNode)
    line += fmt::format(" · crossed with <a href='#n{}'>node {}</a>", node.partner, node.partner);
  if (!node.code_hash.empty()) line += fmt::format(" · code <code>{}</code>", node.code_hash.substr(0, 12));
  if (node.rewrites) line += " · <span class='badge info'>rewrites the graph</span>";
  return html + "<p class='note'>" + line + coder_note(node.note) + "</p></div>\n";
}

std::string folded(const std::string& title, const std::string& content) {
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", title, content);
}

std::string program_text(const NodeRecord& node) {
  if (node.program.empty()) return "";
  return folded("Program", fmt::format("<pre class='code inside'>{}</pre>", escape_html(node.program)));
}

std::string path_step(const ReportData& data, const NodeRecord& node, bool open) {
  std::string html = fmt::format("<details id='n{}'{}>{}{}", node.id, open ? " open" : "", summary(node), facts(node));
  if (node.parent != kNoNode) html += diff_block(data.node(node.parent).code, node.code);
  if (!node.code.empty()) html += folded("The whole kernel.py", code_block(node.code));
  return html + program_text(node) + "</details>\n";
}

std::string other_attempt(const ReportData& data, const NodeRecord& node, size_t& room) {
  std::string html = fmt::format("<details id='n{}'>{}{}", node.id, summary(node), facts(node));
  if (!node.code.empty()) {
    const std::string code =
        node.parent == kNoNode ? code_block(node.code) : diff_block(data.node(node.parent).code, node.code);
    if (code.size() <= room) {
      html += code;
      room -= code.size();
    } else {
      html += fmt::format(
          "<p class='note inside'>The code is left out to keep this page small: <code>mtmc show --node {}</code> "
          "prints it.</p>\n",
          node.id);
    }
  }
  return html + "</details>\n";
}

}  // namespace

std::string steps_section(const ReportData& data) {
  std::set<NodeId> shown;
  std::string html;
  const auto path = data.path();
  if (!path.empty()) {
    html +=
        "<section id='steps'>\n<h2>The steps to the result</h2>\n<p class='note'>What each step changed, against the "
        "step before it; the whole file of each is folded below its difference.</p>\n";
    for (const NodeRecord* node : path) {
      html += path_step(data, *node, node->id == data.best);
      shown.insert(node->id);
    }
    html += "</section>\n";
  }
  if (shown.size() == data.nodes.size()) return html;
  html +=
      "<section id='others'>\n<h2>The other attempts</h2>\n<p class='note'>Kept with their code and verdicts; nothing "
      "that was tried is thrown away.</p>\n";
  size_t room = kMostOtherBytes;
  for (const NodeRecord& node : data.nodes)
    if (!shown.count(node.id)) html += other_attempt(data, node, room);
  return html + "</section>\n";
}

}  // namespace mtmc
