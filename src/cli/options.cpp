#include "cli/options.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <memory>

#include "base/text.h"

namespace mtmc {

namespace {

template <typename T>
bool read_number(const std::string& text, T& value) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size();
}

Error wrong_value(const std::string& name, const std::string& got, const std::string& wanted) {
  return Error{"reading the command line", "wrong value for " + name, "'" + got + "'", wanted};
}

}  // namespace

void Options::text_option(const std::string& name, const std::string& kind, const std::string& doc,
                          std::function<Status(const std::string&)> read) {
  auto word = std::make_shared<std::string>();
  CLI::Option* option = app_.add_option_function<std::string>(
      name, [word](const std::string& given) { *word = given; }, doc);
  option->type_name(kind)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  names_.push_back(name), with_value_.insert(name);
  readers_.push_back([option, word, read] { return option->count() == 0 ? ok_status() : read(*word); });
}

void Options::section(const std::string& title) { app_.option_defaults()->group(title); }

void Options::positional(std::string& value, const std::string& name, const std::string& doc) {
  CLI::Option* option = app_.add_option(name, value, doc)->type_name("");
  readers_.push_back([option, name, doc]() -> Status {
    if (option->count() == 0) return Error{"reading the command line", name + " is missing", "", doc};
    return ok_status();
  });
}

void Options::optional_positional(std::string& value, const std::string& name, const std::string& doc) {
  app_.add_option(name, value, doc)->type_name("");
}

void Options::positional_words(std::vector<std::string>& value, const std::string& name, const std::string& doc) {
  app_.add_option(name, value, doc)->type_name("");
}

void Options::text(std::string& value, const std::string& name, const std::string& kind, const std::string& doc) {
  text_option(name, kind, doc, [&value](const std::string& word) {
    value = word;
    return ok_status();
  });
}

void Options::choice(std::string& value, const std::string& name, std::vector<std::string> allowed,
                     const std::string& doc) {
  text_option(name, join(allowed, "|"), doc + " (" + value + ")",
              [&value, name, allowed](const std::string& word) -> Status {
                if (std::find(allowed.begin(), allowed.end(), word) == allowed.end())
                  return wrong_value(name, word, "one of " + join(allowed, ", "));
                value = word;
                return ok_status();
              });
}

void Options::integer(int64_t& value, const std::string& name, int64_t least, const std::string& doc, int64_t most) {
  const std::string usual = value < least ? "" : fmt::format(" ({})", value);  // below: not given is no number
  text_option(name, "N", doc + usual, [&value, name, least, most](const std::string& word) -> Status {
    int64_t number = 0;
    const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), number);
    const bool whole = code != std::errc::invalid_argument && end == word.data() + word.size();
    const bool too_large = whole && (code == std::errc() ? number > most : !word.starts_with("-"));
    if (too_large) return wrong_value(name, word, fmt::format("a whole number from {} to {}", least, most));
    if (!whole || code != std::errc() || number < least)
      return wrong_value(name, word, fmt::format("a whole number of at least {}", least));
    value = number;
    return ok_status();
  });
}

void Options::seed(int64_t& value, const std::string& name, const std::string& doc) {
  integer(value, name, 0, doc, std::numeric_limits<int64_t>::max());
}

void Options::seconds(double& value, const std::string& name, const std::string& doc) {
  const std::string usual = value > 0 ? fmt::format(" ({})", value) : "";
  text_option(name, "SECONDS", doc + usual, [&value, name](const std::string& word) -> Status {
    double number = 0;
    if (!read_number(word, number) || !(number > 0)) return wrong_value(name, word, "a number of seconds above 0");
    value = number;
    return ok_status();
  });
}

void Options::amount(std::optional<double>& value, const std::string& name, const std::string& kind,
                     const std::string& doc) {
  text_option(name, kind, doc, [&value, name](const std::string& word) -> Status {
    double number = 0;
    if (!read_number(word, number) || !(number >= 0)) return wrong_value(name, word, "a number of at least 0");
    value = number;
    return ok_status();
  });
}

void Options::words(std::vector<std::string>& value, const std::string& name, const std::string& kind,
                    const std::string& doc) {
  app_.add_option(name, value, doc)->type_name(kind);
  names_.push_back(name), with_value_.insert(name);
}

void Options::flag(bool& value, const std::string& name, const std::string& doc) {
  app_.add_flag_callback(
      name, [&value] { value = true; }, doc);
  names_.push_back(name);
}

bool Options::given(const std::string& name) const { return app_.get_option(name)->count() > 0; }

Status Options::read() const {
  for (const auto& reader : readers_) MTMC_RETURN_IF_ERROR(reader());
  return ok_status();
}

}  // namespace mtmc
