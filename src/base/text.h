// Small helpers on text: splitting, joining, numbers.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mtmc {

std::vector<std::string> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string_view trim(std::string_view text);
std::string replace_all(std::string text, std::string_view from, std::string_view to);
std::string indent(std::string_view text, int spaces);
// With args[0] in place of "{0}", and so on.
std::string with_places(std::string_view text, std::span<const std::string> args);
// The shortest decimal that reads back as the same double; always with a '.' or exponent ("1.0"), inf, -inf, nan.
std::string format_double(double value);

}  // namespace mtmc
