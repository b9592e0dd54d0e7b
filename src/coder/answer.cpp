#include "coder/answer.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/process.h"
#include "base/tempdir.h"
#include "base/text.h"

namespace mtmc {
namespace {

constexpr const char* kReadingAnswer = "reading the answer";
constexpr size_t kMostOverlap = 4000;  // bytes that a continuation may say again
constexpr double kCheckSeconds = 30;

struct Block {
  std::string language, text;
  bool closed = false;
};

bool defines_model(std::string_view text) { return text.find("class ModelNew") != text.npos; }

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines = split(text, '\n');
  for (std::string& line : lines)
    if (line.ends_with('\r')) line.pop_back();
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

// "```" or "~~~", at most indented by three spaces; what stands behind it.
bool is_fence(const std::string& line, std::string& fence, std::string& rest) {
  const size_t at = line.find_first_not_of(' ');
  if (at == line.npos || at > 3 || (line[at] != '`' && line[at] != '~')) return false;
  const size_t end = line.find_first_not_of(line[at], at);
  const size_t length = (end == line.npos ? line.size() : end) - at;
  if (length < 3) return false;
  fence = line.substr(at, length);
  rest = end == line.npos ? "" : std::string(trim(line.substr(end)));
  return true;
}

std::vector<Block> blocks_of(std::string_view answer) {
  std::vector<Block> blocks;
  std::string open, fence, rest;
  for (const std::string& line : lines_of(answer)) {
    const bool fenced = is_fence(line, fence, rest);
    if (open.empty() && fenced) {
      open = fence;
      blocks.push_back({rest.substr(0, rest.find(' ')), "", false});
    } else if (!open.empty() && fenced && rest.empty() && fence[0] == open[0] && fence.size() >= open.size()) {
      open.clear();
      blocks.back().closed = true;
    } else if (!open.empty()) {
      blocks.back().text += line + "\n";
    }
  }
  return blocks;
}

bool is_python(const std::string& language) {
  return language.empty() || language == "python" || language == "py" || language == "python3" || language == "triton";
}

bool begins_code(const std::string& line) {
  return line.starts_with("import ") || line.starts_with("from ") || line.starts_with("class ") ||
         line.starts_with("def ") || line.starts_with("@") || line.starts_with("#") || line.starts_with("\"\"\"");
}

// The block that defines ModelNew; with those before it where it cannot stand alone.
std::string whole_file(const std::vector<Block>& blocks, size_t model) {
  if (blocks[model].text.find("import torch") != std::string::npos) return blocks[model].text;
  std::string file;
  for (size_t i = 0; i <= model; ++i)
    if (is_python(blocks[i].language)) file += blocks[i].text + "\n";
  return file;
}

// An answer without fences, from the first line that looks like code.
std::string bare_code(const std::string& answer) {
  std::vector<std::string> lines = lines_of(answer);
  const auto first = std::find_if(lines.begin(), lines.end(), begins_code);
  return join({first, lines.end()}, "\n") + "\n";
}

bool is_diff(std::string_view text) {
  return (text.starts_with("@@ ") || text.find("\n@@ ") != text.npos) &&
         (text.find("\n+") != text.npos || text.find("\n-") != text.npos);
}

struct Hunk {
  int line = 0;  // of the old text, 1-based
  std::vector<std::string> old_lines, new_lines;
};

std::vector<Hunk> hunks_of(std::string_view diff) {
  std::vector<Hunk> hunks;
  for (const std::string& line : lines_of(diff)) {
    if (line.starts_with("@@")) {
      hunks.emplace_back();
      const size_t minus = line.find('-');
      if (minus != line.npos) std::from_chars(line.data() + minus + 1, line.data() + line.size(), hunks.back().line);
    } else if (hunks.empty() || line.starts_with("\\") || line.starts_with("--- ") || line.starts_with("+++ ")) {
      continue;  // names of files, "\ No newline at end of file"
    } else {
      const char mark = line.empty() ? ' ' : line[0];
      const std::string text = line.empty() ? "" : line.substr(1);
      if (mark != '+') hunks.back().old_lines.push_back(mark == '-' || mark == ' ' ? text : line);
      if (mark != '-') hunks.back().new_lines.push_back(mark == '+' || mark == ' ' ? text : line);
    }
  }
  return hunks;
}

bool same(const std::string& a, const std::string& b) {
  const auto bare = [](const std::string& text) { return text.substr(0, text.find_last_not_of(" \t") + 1); };
  return bare(a) == bare(b);
}

// Where the hunk's old lines stand, nearest to where it says; lines.size() + 1 where they stand nowhere.
size_t place_of(const Hunk& hunk, const std::vector<std::string>& lines, int64_t shift) {
  const size_t nowhere = lines.size() + 1, count = hunk.old_lines.size();
  size_t best = nowhere;
  const int64_t wanted = std::max<int64_t>(0, hunk.line - 1 + shift);
  for (size_t at = 0; at + count <= lines.size(); ++at) {
    if (!std::equal(hunk.old_lines.begin(), hunk.old_lines.end(), lines.begin() + static_cast<int64_t>(at), same))
      continue;
    const auto apart = [&](size_t x) { return std::abs(static_cast<int64_t>(x) - wanted); };
    if (best == nowhere || apart(at) < apart(best)) best = at;
  }
  return best;
}

}  // namespace

std::string without_thoughts(std::string_view answer) {
  std::string text(answer);
  for (size_t begin; (begin = text.find("<think>")) != text.npos;) {
    const size_t end = text.find("</think>", begin);
    if (end == text.npos) return text.substr(0, begin);
    text.erase(begin, end + 8 - begin);
  }
  const size_t end = text.find("</think>");  // some templates begin inside the thought
  return end == text.npos ? text : text.substr(end + 8);
}

bool cut_short(std::string_view answer, Stop stop) {
  if (stop == Stop::length) return true;
  const std::vector<Block> blocks = blocks_of(answer);
  return !blocks.empty() && !blocks.back().closed;
}

std::string joined(std::string answer, std::string_view more) {
  std::string fence, rest;
  const size_t end = more.find('\n');
  const std::string first(more.substr(0, end));
  if (end != more.npos && is_fence(first, fence, rest) && !rest.empty()) more.remove_prefix(end + 1);
  for (size_t overlap = std::min({answer.size(), more.size(), kMostOverlap}); overlap > 0; --overlap) {
    if (overlap < 20 && more.substr(0, overlap).find('\n') == more.npos) break;  // a few letters are chance
    if (std::string_view(answer).substr(answer.size() - overlap) == more.substr(0, overlap)) {
      more.remove_prefix(overlap);
      break;
    }
  }
  return answer.append(more);
}

Result<std::string> code_of(std::string_view answer, std::string_view before) {
  const std::string text = without_thoughts(answer);
  if (trim(text).empty()) return Error{kReadingAnswer, "it is empty", "", "a Python block that defines ModelNew"};
  const std::vector<Block> blocks = blocks_of(text);
  for (size_t i = blocks.size(); i-- > 0;)
    if (defines_model(blocks[i].text) && !is_diff(blocks[i].text)) return whole_file(blocks, i);
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block)
    if (is_diff(block->text)) return apply_diff(before, block->text);
  if (blocks.empty() && is_diff(text)) return apply_diff(before, text);
  if (blocks.empty() && defines_model(text)) return bare_code(text);
  std::vector<std::string> languages;
  for (const Block& block : blocks)
    if (!is_python(block.language)) languages.push_back(block.language);
  return Error{kReadingAnswer, blocks.empty() ? "there is no code in it" : "none of its blocks defines ModelNew",
               languages.empty() ? "" : "blocks of " + join(languages, ", "), "a Python block that defines ModelNew"};
}

Result<std::string> script_of(std::string_view answer) {
  const std::string text = without_thoughts(answer);
  const std::vector<Block> blocks = blocks_of(text);
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block)
    if (is_python(block->language) && !trim(block->text).empty()) return block->text;
  const std::string code = blocks.empty() ? bare_code(text) : "";
  if (!trim(code).empty()) return code;
  return Error{kReadingAnswer, trim(text).empty() ? "it is empty" : "there is no code in it", "", "a Python block"};
}

Result<std::string> apply_diff(std::string_view before, std::string_view diff) {
  std::vector<std::string> lines = lines_of(before);
  int64_t shift = 0;
  const std::vector<Hunk> hunks = hunks_of(diff);
  for (size_t i = 0; i < hunks.size(); ++i) {
    const Hunk& hunk = hunks[i];
    const size_t at = place_of(hunk, lines, shift);
    if (at > lines.size())
      return Error{kReadingAnswer, "its difference does not fit the code",
                   fmt::format("change {} of {}: '{}'", i + 1, hunks.size(),
                               hunk.old_lines.empty() ? "" : hunk.old_lines.front()),
                   "lines as they stand in the code"};
    const auto begin = lines.begin() + static_cast<int64_t>(at);
    lines.erase(begin, begin + static_cast<int64_t>(hunk.old_lines.size()));
    lines.insert(lines.begin() + static_cast<int64_t>(at), hunk.new_lines.begin(), hunk.new_lines.end());
    shift += static_cast<int64_t>(hunk.new_lines.size()) - static_cast<int64_t>(hunk.old_lines.size());
  }
  return join(lines, "\n") + "\n";
}

Status check_code(const std::string& code, CodeKind kind) {
  TempDir folder;
  const auto file = folder.path() / "kernel.py";
  MTMC_RETURN_IF_ERROR(write_file(file, code));
  const char* python = std::getenv("MTMC_PYTHON");
  std::vector<std::string> argv = {python != nullptr ? python : "python3", "-m", "mtmc.answer.check", file.string()};
  if (kind == CodeKind::script) argv.emplace_back("--script");
  MTMC_TRY(const Finished done, run({.argv = std::move(argv), .timeout_seconds = kCheckSeconds}));
  const Json json = Json::parse(done.out, nullptr, false);
  if (!json.is_object())
    return Error{"checking the answer", "Python cannot parse it", "exit " + std::to_string(done.exit_code), ""};
  if (json.empty()) return ok_status();
  return Error{"checking the answer", json.at("wrong").get<std::string>(), "", ""};
}

}  // namespace mtmc
