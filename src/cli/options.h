// Command-line options of one verb: CLI11 splits the words, the messages are ours.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
}

namespace mtmc {

// Declares options and binds each to a variable that keeps its default when the option is not given. Variables must
// outlive the parse. What an option is without being given stands behind its text by itself: "how many (10)".
class Options {
 public:
  explicit Options(CLI::App& app) : app_(app) {}

  // Options that are declared after this stand under `title` in --help; an empty one: they are not shown.
  void section(const std::string& title);

  void positional(std::string& value, const std::string& name, const std::string& doc);  // required
  void optional_positional(std::string& value, const std::string& name, const std::string& doc);
  void positional_words(std::vector<std::string>& value, const std::string& name, const std::string& doc);
  void text(std::string& value, const std::string& name, const std::string& kind, const std::string& doc);
  void choice(std::string& value, const std::string& name, std::vector<std::string> allowed, const std::string& doc);
  void integer(int64_t& value, const std::string& name, int64_t least, const std::string& doc,
               int64_t most = std::numeric_limits<int>::max());
  void seed(int64_t& value, const std::string& name, const std::string& doc);  // any integer from 0
  void seconds(double& value, const std::string& name, const std::string& doc);
  // A number of at least 0; none when the option is not given.
  void amount(std::optional<double>& value, const std::string& name, const std::string& kind, const std::string& doc);
  // Zero or more words: `--init 64 128`, or the option repeated.
  void words(std::vector<std::string>& value, const std::string& name, const std::string& kind, const std::string& doc);
  void flag(bool& value, const std::string& name, const std::string& doc);

  // After the parse: reads the words into the variables. An Error names the option, what it got and what it takes.
  Status read() const;
  const std::vector<std::string>& names() const { return names_; }
  bool given(const std::string& name) const;
  // Whether `--name VALUE` is one of these options: a flag takes none.
  bool takes_value(const std::string& name) const { return with_value_.contains(name); }

 private:
  void text_option(const std::string& name, const std::string& kind, const std::string& doc,
                   std::function<Status(const std::string&)> read);
  CLI::App& app_;
  std::vector<std::string> names_;
  std::set<std::string> with_value_;
  std::vector<std::function<Status()>> readers_;
};

}  // namespace mtmc
