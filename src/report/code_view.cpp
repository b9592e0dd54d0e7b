// Code with line numbers and simple colours, and differences between two texts.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "report/diff.h"
#include "report/html.h"

namespace mtmc {
namespace {

constexpr std::array<std::string_view, 72> kKeywords = {
    "alignas", "and",      "as",        "assert",   "auto",     "bool",     "break",    "case",    "char",
    "class",   "const",    "constexpr", "continue", "def",      "del",      "do",       "double",  "elif",
    "else",    "except",   "extern",    "false",    "False",    "finally",  "float",    "for",     "from",
    "global",  "if",       "import",    "in",       "inline",   "int",      "int32_t",  "int64_t", "is",
    "lambda",  "long",     "namespace", "None",     "noexcept", "nonlocal", "not",      "nullptr", "or",
    "pass",    "private",  "public",    "raise",    "restrict", "return",   "self",     "short",   "signed",
    "size_t",  "sizeof",   "static",    "struct",   "super",    "switch",   "template", "true",    "True",
    "try",     "typename", "unsigned",  "using",    "void",     "while",    "with",     "yield",   "__restrict"};

enum class Language { python, cpp };

// Colours line by line; what a line leaves open (a comment, a string) is carried to the next.
class Painter {
 public:
  explicit Painter(std::string_view whole) : cpp_inside_(whole.find("#include") != std::string_view::npos) {}

  std::string paint(std::string_view line) {
    html_.clear();
    line_ = line, at_ = 0;
    while (at_ < line_.size()) step();
    return html_;
  }

 private:
  bool starts(std::string_view word) const { return line_.substr(at_).starts_with(word); }

  void put(const char* look, size_t length) {
    length = std::min(length, line_.size() - at_);
    const std::string text = escape_html(line_.substr(at_, length));
    html_ += look ? fmt::format("<span class={}>{}</span>", look, text) : text;
    at_ += length;
  }

  // Up to and with `end`; remembers when the line has none.
  void put_until(const char* look, std::string_view end, size_t skip, bool& open) {
    const size_t found = line_.find(end, at_ + skip);
    open = found == std::string_view::npos;
    put(look, open ? line_.size() : found + end.size() - at_);
  }

  void step() {
    if (block_comment_) return put_until("c", "*/", 0, block_comment_);
    if (docstring_) return put_until("s", "\"\"\"", 0, docstring_);
    if (starts("\"\"\"")) return triple_quote();
    if (language_ == Language::cpp ? starts("//") : starts("#")) return put("c", line_.size());
    if (language_ == Language::cpp && starts("/*")) return put_until("c", "*/", 2, block_comment_);
    if (language_ == Language::cpp && starts("#")) return put("k", line_.size());
    const char c = line_[at_];
    if (c == '"' || c == '\'') return quoted(c);
    if (std::isdigit(static_cast<unsigned char>(c))) return number();
    if (std::isalpha(static_cast<unsigned char>(c)) || c == '_') return word();
    put(nullptr, 1);
  }

  // A raw triple-quoted string of a kernel file that includes headers is C++; others are text.
  void triple_quote() {
    if (language_ == Language::cpp) {
      language_ = Language::python;
      return put("s", 3);
    }
    if (cpp_inside_ && at_ > 0 && line_[at_ - 1] == 'r') {
      language_ = Language::cpp;
      return put("s", 3);
    }
    put_until("s", "\"\"\"", 3, docstring_);
  }

  void quoted(char quote) {
    size_t length = 1;
    while (at_ + length < line_.size() && line_[at_ + length] != quote) length += line_[at_ + length] == '\\' ? 2 : 1;
    put("s", length + 1);
  }

  void number() {
    size_t length = 1;
    while (at_ + length < line_.size() &&
           (std::isalnum(static_cast<unsigned char>(line_[at_ + length])) || line_[at_ + length] == '.'))
      ++length;
    put("d", length);
  }

  void word() {
    size_t length = 1;
    while (at_ + length < line_.size() &&
           (std::isalnum(static_cast<unsigned char>(line_[at_ + length])) || line_[at_ + length] == '_'))
      ++length;
    const std::string_view text = line_.substr(at_, length);
    if (std::find(kKeywords.begin(), kKeywords.end(), text) != kKeywords.end()) return put("k", length);
    const bool called = at_ + length < line_.size() && line_[at_ + length] == '(';
    put(called ? "f" : nullptr, length);
  }

  Language language_ = Language::python;
  bool cpp_inside_, block_comment_ = false, docstring_ = false;
  std::string_view line_;
  size_t at_ = 0;
  std::string html_;
};

}  // namespace

std::string code_block(std::string_view code) {
  if (!code.empty() && code.back() == '\n') code.remove_suffix(1);
  Painter painter(code);
  std::string html = "<pre class='code boxed'>";
  int number = 0;
  for (const std::string& line : split(code, '\n'))
    html += fmt::format("<span class=l data-n={}>{}</span>", ++number, painter.paint(line));
  return html + "</pre>\n";
}

std::string diff_block(std::string_view before, std::string_view after) {
  const auto parts = hunks(diff_lines(before, after));
  if (parts.empty()) return "<p class='note inside'>The code is the same as its parent's.</p>\n";
  std::string html = "<pre class='code diff'>";
  bool first = true;
  for (const auto& part : parts) {
    if (!first) html += "<span class=gap>⋯</span>";
    first = false;
    Painter painter(after);
    for (const DiffLine& line : part) {
      const bool cut = line.kind == DiffLine::Kind::removed, add = line.kind == DiffLine::Kind::added;
      html += fmt::format("<span class='l{}' data-o='{}'><span class=m data-n='{}' data-s='{}'></span>{}</span>",
                          cut   ? " cut"
                          : add ? " add"
                                : "",
                          line.before ? std::to_string(line.before) : "", line.after ? std::to_string(line.after) : "",
                          cut   ? "−"
                          : add ? "+"
                                : "",
                          painter.paint(line.text));
    }
  }
  return html + "</pre>\n";
}

}  // namespace mtmc
