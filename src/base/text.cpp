#include "base/text.h"

#include <charconv>
#include <cmath>

#include "base/check.h"

namespace mtmc {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  size_t start = 0;
  while (true) {
    const size_t end = text.find(separator, start);
    parts.emplace_back(text.substr(start, end - start));
    if (end == std::string_view::npos) return parts;
    start = end + 1;
  }
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += separator;
    text += parts[i];
  }
  return text;
}

std::string_view trim(std::string_view text) {
  const auto space = " \t\r\n";
  const size_t start = text.find_first_not_of(space);
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(space) - start + 1);
}

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string indent(std::string_view text, int spaces) {
  std::string result;
  for (const std::string& line : split(text, '\n')) {
    if (!result.empty()) result += '\n';
    if (!line.empty()) result += std::string(spaces, ' ') + line;
  }
  return result;
}

std::string with_places(std::string_view text, std::span<const std::string> args) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t end = text[i] == '{' ? text.find_first_not_of("0123456789", i + 1) : std::string_view::npos;
    if (end == std::string_view::npos || end == i + 1 || text[end] != '}') {
      result += text[i];
      continue;
    }
    const size_t which = std::stoul(std::string(text.substr(i + 1, end - i - 1)));
    MTMC_CHECK(which < args.size(), "a text has place " + std::to_string(which));
    result += args[which];
    i = end;
  }
  return result;
}

std::string format_double(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace mtmc
