#include "coder/answer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/process.h"
#include "base/tempdir.h"
#include "base/text.h"
#include "base/variables.h"

namespace mtmc {
namespace {

constexpr const char* kReadingAnswer = "reading the answer";
constexpr size_t kMostOverlap = 4000;  // bytes that a continuation may say again
constexpr double kCheckSeconds = 30;

struct Block {
  std::string language, text;
  bool closed = false;
};

// "class ModelNew", and not a longer name.
bool defines_model(std::string_view text) {
  constexpr std::string_view kModel = "class ModelNew";
  for (size_t at = text.find(kModel); at != text.npos; at = text.find(kModel, at + 1)) {
    const size_t end = at + kModel.size();
    if (end == text.size() || (std::isalnum(static_cast<unsigned char>(text[end])) == 0 && text[end] != '_'))
      return true;
  }
  return false;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines = split(text, '\n');
  for (std::string& line : lines)
    if (line.ends_with('\r')) line.pop_back();
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

bool is_python(const std::string& language) {
  return language.empty() || language == "python" || language == "py" || language == "python3" || language == "triton";
}

// "```" or "~~~", wherever it begins, and what stands behind it.
struct Fence {
  size_t indent = 0;
  std::string marks, rest;
};

std::optional<Fence> fence_of(const std::string& line) {
  const size_t at = line.find_first_not_of(" \t");
  if (at == line.npos || (line[at] != '`' && line[at] != '~')) return std::nullopt;
  const size_t end = std::min(line.find_first_not_of(line[at], at), line.size());
  if (end - at < 3) return std::nullopt;
  return Fence{at, line.substr(at, end - at), std::string(trim(line.substr(end)))};
}

// Whether a fence ends what `open` begins. In a file that begins at its left edge four spaces make it code.
bool closes(const Fence& fence, const Fence& open) {
  return fence.rest.empty() && fence.marks[0] == open.marks[0] && fence.marks.size() >= open.marks.size() &&
         fence.indent <= open.indent + 3;
}

// Without the indentation that the whole block has, under an item of a list.
std::string outdented(const std::string& line, size_t indent) {
  return line.substr(std::min({indent, line.find_first_not_of(" \t"), line.size()}));
}

// The quotes of the string of several lines that is open behind this line of Python, given the one before it.
std::string open_string(const std::string& line, std::string quotes) {
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\') {
      ++i;
    } else if (!quotes.empty()) {
      if (line.compare(i, quotes.size(), quotes) != 0) continue;
      i += quotes.size() - 1;
      quotes.clear();
    } else if (line[i] == '#') {
      break;
    } else if (line[i] == '"' || line[i] == '\'') {
      quotes = line.compare(i, 3, std::string(3, line[i])) == 0 ? line.substr(i, 3) : line.substr(i, 1);
      i += quotes.size() - 1;
    }
  }
  return quotes.size() == 3 ? quotes : "";
}

// The fenced blocks of an answer, and in `prose` what stands around them. A fence within a string of several lines,
// such as an example in a docstring, is text of the block.
std::vector<Block> blocks_of(std::string_view answer, std::string* prose = nullptr) {
  std::vector<Block> blocks;
  std::optional<Fence> open;
  std::string quotes;
  const std::vector<std::string> lines = lines_of(answer);
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::optional<Fence> fence = fence_of(lines[i]);
    const auto ends_string = [&](const std::string& line) { return line.find(quotes) != line.npos; };
    const bool in_string =
        !quotes.empty() && std::any_of(lines.begin() + static_cast<int64_t>(i), lines.end(), ends_string);
    if (!open && fence) {
      open = fence;
      quotes.clear();
      blocks.push_back({fence->rest.substr(0, fence->rest.find(' ')), "", false});
    } else if (open && fence && closes(*fence, *open) && !in_string) {
      open.reset();
      blocks.back().closed = true;
    } else if (open) {
      blocks.back().text += outdented(lines[i], open->indent) + "\n";
      if (is_python(blocks.back().language)) quotes = open_string(lines[i], quotes);
    } else if (prose != nullptr) {
      *prose += lines[i] + "\n";
    }
  }
  return blocks;
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

// A line that begins a change: "@@ -9 +9 @@", bare "@@", "@@ def forward", or the name of a file in OpenAI's patches.
bool begins_change(const std::string& line) {
  return line.starts_with("@@ ") || trim(line) == "@@" || line.starts_with("*** Update File:") ||
         line.starts_with("*** Add File:");
}

bool is_diff(std::string_view text) {
  const std::vector<std::string> lines = lines_of(text);
  return std::any_of(lines.begin(), lines.end(), begins_change) &&
         (text.find("\n+") != text.npos || text.find("\n-") != text.npos);
}

struct Hunk {
  int line = 0;        // of the old text, 1-based; 0: it is not said
  std::string behind;  // a line that it stands behind; empty: none is named
  bool whole = false;  // a new file
  std::vector<std::string> old_lines, new_lines;
};

Hunk begun(const std::string& line) {
  Hunk hunk;
  hunk.whole = line.starts_with("*** Add File:") || line.starts_with("@@ -0,0 ");
  if (line.starts_with("@@ -"))
    std::from_chars(line.data() + 4, line.data() + line.size(), hunk.line);
  else if (line.starts_with("@@"))
    hunk.behind = trim(line.substr(2));
  return hunk;
}

std::vector<Hunk> hunks_of(std::string_view diff) {
  std::vector<Hunk> hunks;
  std::vector<std::string> lines = lines_of(diff);
  lines.erase(
      std::find_if(lines.begin(), lines.end(), [](const auto& line) { return line.starts_with("*** End Patch"); }),
      lines.end());
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  for (const std::string& line : lines) {
    if (begins_change(line)) {
      hunks.push_back(begun(line));
    } else if (hunks.empty() || line.starts_with("\\") || line.starts_with("--- ") || line.starts_with("+++ ") ||
               line.starts_with("*** ")) {
      continue;  // names of files, "\ No newline at end of file"
    } else {
      const char mark = line.empty() ? ' ' : line[0];
      const std::string text = line.empty() ? "" : line.substr(1);
      if (mark != '+') hunks.back().old_lines.push_back(mark == '-' || mark == ' ' ? text : line);
      if (mark != '-') hunks.back().new_lines.push_back(mark == '+' || mark == ' ' ? text : line);
    }
  }
  std::erase_if(hunks, [](const Hunk& hunk) { return hunk.old_lines.empty() && hunk.new_lines.empty(); });
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
  int64_t wanted = std::max<int64_t>(0, hunk.line - 1 + shift);
  const auto named = std::find_if(lines.begin(), lines.end(), [&](const std::string& line) {
    return !hunk.behind.empty() && trim(line).starts_with(hunk.behind);
  });
  if (named != lines.end()) wanted = named - lines.begin() + 1;
  for (size_t at = 0; at + count <= lines.size(); ++at) {
    if (!std::equal(hunk.old_lines.begin(), hunk.old_lines.end(), lines.begin() + static_cast<int64_t>(at), same))
      continue;
    const auto apart = [&](size_t x) { return std::abs(static_cast<int64_t>(x) - wanted); };
    if (best == nowhere || apart(at) < apart(best)) best = at;
  }
  return best;
}

// Whether all lines of a block are some of the code: it is quoted.
bool stands_in(std::string_view code, std::string_view block) {
  const std::vector<std::string> lines = lines_of(code), some = lines_of(trim(block));
  return std::search(lines.begin(), lines.end(), some.begin(), some.end(), same) != lines.end();
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
  const size_t end = more.find('\n');
  const std::optional<Fence> fence = fence_of(std::string(more.substr(0, end)));
  if (end != more.npos && fence && !fence->rest.empty()) more.remove_prefix(end + 1);
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
  std::string prose, diffs, last_diff;
  const std::vector<Block> blocks = blocks_of(text, &prose);
  for (const Block& block : blocks)
    if (is_diff(block.text)) diffs += last_diff = block.text;
  if (is_diff(prose)) diffs += last_diff = prose;
  for (size_t i = blocks.size(); i-- > 0;)
    if (defines_model(blocks[i].text) && !is_diff(blocks[i].text) &&
        (diffs.empty() || !stands_in(before, blocks[i].text)))
      return whole_file(blocks, i);
  if (!diffs.empty()) {  // a change in each block, or the last of several tries
    auto changed = apply_diff(before, diffs);
    return changed.ok() ? std::move(changed) : apply_diff(before, last_diff);
  }
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
    if (hunk.whole) {
      lines = hunk.new_lines;
      continue;
    }
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
  std::vector<std::string> argv = {python_program(), "-m", "mtmc.answer.check", file.string()};
  if (kind == CodeKind::script) argv.emplace_back("--script");
  MTMC_TRY(const Finished done, run({.argv = std::move(argv), .timeout_seconds = kCheckSeconds}));
  const Json json = Json::parse(done.out, nullptr, false);
  if (!json.is_object())
    return Error{"checking the answer", "Python cannot parse it", "exit " + std::to_string(done.exit_code), ""};
  if (json.empty()) return ok_status();
  return Error{"checking the answer", json.at("wrong").get<std::string>(), "", ""};
}

}  // namespace mtmc
