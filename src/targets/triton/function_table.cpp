#include "targets/triton/function_table.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/text.h"

namespace mtmc::triton {
namespace {

constexpr std::string_view kBegin = "@triton.jit\ndef ";

bool begins_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool in_word(char c) { return begins_word(c) || std::isdigit(static_cast<unsigned char>(c)); }

struct Token {
  std::string_view text;
  int depth = 0;  // of brackets around it
};

// Words, single other characters, and line breaks; without comments.
std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  int depth = 0;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    if (text[i] == '#') {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (text[i] == '"') {
      end = std::min(text.find('"', end), text.size() - 1) + 1;
    } else if (in_word(text[i])) {
      while (end < text.size() && in_word(text[end])) ++end;
    }
    const std::string_view token = text.substr(i, end - i);
    if (token == ")" || token == "]") --depth;
    tokens.push_back({token, depth});
    if (token == "(" || token == "[") ++depth;
    i = end;
  }
  return tokens;
}

bool is_word(const Token& token) { return begins_word(token.text[0]); }
bool is_blank(const Token& token) { return token.text == " "; }

// The parameters, what stands left of an assignment, and what loops count.
std::set<std::string_view> bound_names(const std::vector<Token>& tokens) {
  std::set<std::string_view> bound;
  std::vector<std::string_view> left;  // words of this line, outside of brackets
  bool in_head = true, counts = false;
  const auto before = [&](size_t i) { return i == 0 ? std::string_view() : tokens[i - 1].text; };
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    const bool begins = before(i) == "(" || (before(i) == " " && i > 1 && before(i - 1) == ",");
    if (in_head && is_word(token) && token.depth == 1 && begins) bound.insert(token.text);  // no default or annotation
    if (token.text == "\n" && token.depth == 0) {
      in_head = counts = false;
      left.clear();
    } else if (token.depth == 0 && is_word(token)) {
      if (token.text == "in" && counts) bound.insert(left.begin(), left.end()), counts = false;
      if (token.text == "for")
        counts = true;
      else
        left.push_back(token.text);
    } else if (token.depth == 0 && token.text == "=" && (i + 1 == tokens.size() || tokens[i + 1].text != "=")) {
      static const std::set<std::string_view> kCompares = {"=", "!", "<", ">"};
      if (!left.empty() && !kCompares.contains(before(i))) bound.insert(left.begin(), left.end());
      left.clear();
    }
  }
  return bound;
}

std::string name_of(std::string_view function) {
  const size_t from = kBegin.size();
  return std::string(function.substr(from, function.find('(') - from));
}

// Each begins with kBegin; empty where the text is something else.
std::vector<std::string> functions_of(const std::string& text) {
  std::vector<std::string> functions;
  for (size_t at = 0; at < text.size();) {
    if (text.compare(at, kBegin.size(), kBegin) != 0) return {};
    const size_t end = std::min(text.find(kBegin, at + 1), text.size());
    functions.push_back(text.substr(at, end - at));
    if (functions.back().find("\ndef ", kBegin.size()) != std::string::npos) return {};
    at = end;
  }
  return functions;
}

// Where a function calls another, that one's new name.
std::string renamed(const std::string& text, const std::map<std::string, std::string>& names) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    if (begins_word(text[i]) && (i == 0 || !in_word(text[i - 1])))
      while (end < text.size() && in_word(text[end])) ++end;
    const auto known = names.find(text.substr(i, end - i));
    result += known == names.end() ? text.substr(i, end - i) : known->second;
    i = end;
  }
  return result;
}

int lines_of(const std::string& text) { return static_cast<int>(std::count(text.begin(), text.end(), '\n')) - 2; }

}  // namespace

std::string without_names(std::string_view function) {
  const std::vector<Token> tokens = tokens_of(function.substr(function.find('(')));
  const std::set<std::string_view> bound = bound_names(tokens);
  std::map<std::string_view, size_t> numbers;
  std::string result;
  bool in_head = true;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    in_head = in_head && !(token.text == "\n" && token.depth == 0);
    const bool member = i > 0 && tokens[i - 1].text == ".";
    const bool keyword =
        !in_head && token.depth > 0 && i + 2 < tokens.size() && tokens[i + 1].text == "=" && tokens[i + 2].text != "=";
    if (!bound.contains(token.text) || member || keyword) {
      if (!(is_blank(token) && i + 1 < tokens.size() && tokens[i + 1].text == "\n")) result += token.text;
      continue;
    }
    result += "$" + std::to_string(numbers.try_emplace(token.text, numbers.size()).first->second);
  }
  return result;
}

FunctionTable::Place FunctionTable::append(const std::string& text) {
  text_ += text;
  return {text.substr(0, text.find('(', text.find("def ")) + 1), lines_of(text)};
}

FunctionTable::Place FunctionTable::add(const std::string& text, const std::map<std::string, std::string>& signatures,
                                        std::string& calls) {
  const std::vector<std::string> functions = functions_of(text);
  if (functions.empty()) return append(text);
  std::map<std::string, std::string> others;  // our names -> those that are called instead
  std::vector<Function*> mine;
  std::vector<Function*> added;
  std::string own;
  for (const std::string& function : functions) {
    const std::string name = name_of(function);
    const auto signature = signatures.find(name);
    const std::string called = renamed(function, others);
    const auto [known, is_new] = functions_.try_emplace(
        (signature == signatures.end() ? "" : signature->second) + "\n" + without_names(called), Function{name, {}});
    if (is_new) own += called, added.push_back(&known->second);
    mine.push_back(&known->second);
    others[name] = known->second.name;
  }
  // Whoever has some of its own is found there; else where its last function, whose result it is, came from.
  const Place place = own.empty() ? mine.back()->place : append(own);
  for (Function* one : added) one->place = place;
  for (const auto& [name, other] : others)
    if (name != other) calls = replace_all(std::move(calls), "_launch(" + name + ",", "_launch(" + other + ",");
  return place;
}

}  // namespace mtmc::triton
