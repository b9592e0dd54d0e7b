// A recursive-descent parser of the text in ir/program.h.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "base/text.h"
#include "ir/program.h"

namespace mtmc {
namespace {

// Thrown inside this file only; parse_program turns it into an Error with line and column.
struct ParseFailure {
  std::string wanted;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Program program() {
    Program result;
    expect("program");
    result.name = word("a program name");
    expect("{");
    while (!accept("return")) statement(result);
    if (peek() == '%' || peek() == 'n') do
        result.outputs.push_back(id());
      while (accept(","));
    expect("}");
    while (skip_space(), at_ < text_.size()) schedule(result);
    std::sort(result.values.begin(), result.values.end(), [](const Value& a, const Value& b) { return a.id < b.id; });
    return result;
  }

  Error error(const ParseFailure& failure) const {
    const auto before = text_.substr(0, at_);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const size_t start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    std::string_view found = text_.substr(at_, 24);
    found = found.substr(0, found.find('\n'));
    return Error{"parsing a program, line " + std::to_string(line) + ", column " + std::to_string(at_ - start + 1),
                 "unexpected text", found.empty() ? "the end" : "'" + std::string(found) + "'", failure.wanted};
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && (std::isspace(static_cast<unsigned char>(text_[at_])) || text_[at_] == '#')) {
      if (text_[at_] == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else {
        ++at_;
      }
    }
  }
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  static bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }
  bool accept(std::string_view token) {
    skip_space();
    if (text_.substr(at_, token.size()) != token) return false;
    const size_t end = at_ + token.size();
    if (is_word(token.back()) && end < text_.size() && is_word(text_[end])) return false;
    at_ = end;
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) throw ParseFailure{"'" + std::string(token) + "'"};
  }
  std::string word(const char* wanted) {
    skip_space();
    const size_t start = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    if (at_ == start) throw ParseFailure{wanted};
    return std::string(text_.substr(start, at_ - start));
  }
  int64_t integer(const char* wanted) {
    skip_space();
    int64_t value = 0;
    const auto [end, code] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (code != std::errc()) throw ParseFailure{wanted};
    at_ = static_cast<size_t>(end - text_.data());
    return value;
  }
  ValueId id() {
    if (accept("none")) return kNoValue;
    expect("%");
    return static_cast<ValueId>(integer("a value's number"));
  }
  std::string quoted() {
    if (peek() != '"') throw ParseFailure{"a quoted text"};
    std::string result;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        ++at_;
        result += text_[at_] == 'n' ? '\n' : text_[at_];
      } else {
        result += text_[at_];
      }
    }
    expect("\"");
    return result;
  }
  void type(Value& value) {
    skip_space();
    const size_t end = text_.find(']', at_);
    const auto parsed = end == std::string_view::npos ? std::nullopt : parse_type(text_.substr(at_, end + 1 - at_));
    if (!parsed) throw ParseFailure{"a tensor type such as f32[64,512]"};
    at_ = end + 1;
    value.type = *parsed;
    value.storage = parsed->dtype;
    if (accept("storage")) {
      const auto dtype = parse_dtype(word("an element type"));
      if (!dtype) throw ParseFailure{"an element type such as f16"};
      value.storage = *dtype;
    }
    if (accept("layout")) {
      expect("(");
      do value.layout.push_back(static_cast<int>(integer("a dimension")));
      while (accept(","));
      expect(")");
    }
  }
  AttrValue attribute() {
    const char c = peek();
    if (c == '"') return quoted();
    if (accept("true")) return true;
    if (accept("false")) return false;
    if (accept("inf")) return std::numeric_limits<double>::infinity();
    if (accept("-inf")) return -std::numeric_limits<double>::infinity();
    if (accept("nan")) return std::nan("");
    if (accept("[")) {
      std::vector<int64_t> list;
      if (accept("]")) return list;
      do list.push_back(integer("an integer"));
      while (accept(","));
      expect("]");
      return list;
    }
    if (std::isalpha(static_cast<unsigned char>(c))) {
      const auto dtype = parse_dtype(word("an attribute's value"));
      if (!dtype) throw ParseFailure{"an attribute's value"};
      return *dtype;
    }
    const size_t start = at_;
    while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '-' || text_[at_] == '+')) ++at_;
    const std::string_view token = text_.substr(start, at_ - start);
    if (token.find_first_of(".e") != std::string_view::npos) {
      double number = 0;
      const auto [end, code] = std::from_chars(token.data(), token.data() + token.size(), number);
      if (code == std::errc() && end == token.data() + token.size()) return number;
    } else {
      int64_t whole = 0;
      const auto [end, code] = std::from_chars(token.data(), token.data() + token.size(), whole);
      if (code == std::errc() && end == token.data() + token.size()) return whole;
    }
    at_ = start;
    throw ParseFailure{"an attribute's value"};
  }
  void arguments(Node& node) {
    expect("(");
    if (accept(")")) return;
    do {
      if (peek() == '%' || text_.substr(at_, 4) == "none") {
        node.inputs.push_back(id());
      } else {
        const std::string key = word("a value or an attribute");
        expect("=");
        node.attrs.emplace(key, attribute());
      }
    } while (accept(","));
    expect(")");
  }
  bool leaf(Program& result, ValueId value_id) {
    static constexpr const char* kKinds[] = {"input", "param", "buffer", "constant"};
    for (int kind = 0; kind < 4; ++kind) {
      if (!accept(kKinds[kind])) continue;
      Value value;
      value.id = value_id;
      value.kind = static_cast<ValueKind>(kind);
      value.name = quoted();
      expect(":");
      type(value);
      result.values.push_back(std::move(value));
      return true;
    }
    return false;
  }
  void statement(Program& result) {
    if (accept("state")) {
      StateUpdate state;
      state.name = quoted();
      expect("=");
      state.value = id();
      result.states.push_back(std::move(state));
      return;
    }
    Node node;
    do node.outputs.push_back(id());
    while (accept(","));
    expect("=");
    if (node.outputs.size() == 1 && leaf(result, node.outputs[0])) return;
    node.op = word("an operator");
    arguments(node);
    expect(":");
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (i > 0) expect(",");
      Value value;
      value.id = node.outputs[i];
      type(value);
      result.values.push_back(std::move(value));
    }
    if (accept("@")) {
      size_t end = text_.find('\n', at_);
      if (end == std::string_view::npos) end = text_.size();
      node.location = std::string(trim(text_.substr(at_, end - at_)));
      at_ = end;
    }
    result.nodes.push_back(std::move(node));
  }
  void kernel(Program& result) {
    Kernel kernel;
    kernel.name = word("a kernel's name");
    expect("=");
    expect("{");
    while (!accept("}")) kernel.values.push_back(id());
    const std::string family = word("a kernel family");
    bool found = false;
    for (int i = 0; i <= static_cast<int>(Family::recurrent); ++i) {
      if (name(static_cast<Family>(i)) != family) continue;
      kernel.family = static_cast<Family>(i);
      found = true;
    }
    if (!found) throw ParseFailure{"a kernel family such as reduction"};
    while (!at_line_end() && peek() != '|') {
      const std::string key = word("a choice");
      // A colon belongs to this choice only when it follows at once: accept() would look beyond the line.
      kernel.choices[key] = at_ < text_.size() && text_[at_] == ':' && accept(":") ? word("a choice's word") : "";
    }
    if (!at_line_end()) {
      expect("|");
      while (!at_line_end()) {
        const std::string key = word("a number's name");
        expect(":");
        kernel.numbers[key] = integer("a number");
      }
    }
    result.kernels.push_back(std::move(kernel));
  }
  bool at_line_end() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
    return at_ >= text_.size() || text_[at_] == '\n' || text_[at_] == '#';
  }
  void schedule(Program& result) {
    if (accept("kernel")) {
      kernel(result);
    } else if (accept("capture")) {
      std::vector<std::string> names;
      expect("{");
      while (!accept("}")) names.push_back(word("a kernel's name"));
      result.captures.push_back(std::move(names));
    } else if (accept("rewritten")) {
      Rewrite rewrite;
      rewrite.action = word("an action type");
      rewrite.what = quoted();
      result.rewrites.push_back(std::move(rewrite));
    } else {
      throw ParseFailure{"'kernel', 'capture' or 'rewritten'"};
    }
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Result<Program> parse_program(std::string_view text) {
  Parser parser(text);
  try {
    Program program = parser.program();
    MTMC_RETURN_IF_ERROR(verify(program));
    return program;
  } catch (const ParseFailure& failure) {
    return parser.error(failure);
  }
}

}  // namespace mtmc
