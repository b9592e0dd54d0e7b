// The program: reads the command line, runs one verb, turns what it returns into a message and an exit code.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <new>
#include <vector>

#include "base/text.h"
#include "cli/interrupt.h"
#include "cli/verb.h"
#include "cli/version.h"
#include "cli_verbs.h"

namespace mtmc {
namespace {

struct Bound {
  const Verb* verb = nullptr;
  CLI::App* app = nullptr;
  std::unique_ptr<Options> options;
  VerbBody body;
};

int levenshtein(const std::string& a, const std::string& b) {
  std::vector<int> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

// "--target" for "--traget"; empty where nothing is near.
std::string nearest(const std::string& word, const std::vector<std::string>& offered) {
  const auto best = std::min_element(offered.begin(), offered.end(), [&](const auto& a, const auto& b) {
    return levenshtein(word, a) < levenshtein(word, b);
  });
  const bool near = best != offered.end() && 3 * levenshtein(word, *best) <= static_cast<int>(word.size());
  return near ? *best : "";
}

constexpr const char* kReading = "reading the command line";

// `read`: the part of the word that is looked for.
Error unknown(const std::string& wrong, const std::string& word, const std::string& read,
              const std::vector<std::string>& offered) {
  const std::string meant = nearest(read, offered);
  if (!meant.empty()) return {kReading, wrong, fmt::format("'{}': did you mean {}?", word, meant), ""};
  return {kReading, wrong, "'" + word + "'", (offered.size() > 1 ? "one of " : "") + join(offered, ", ")};
}

// What CLI11 left over, or stumbled over, in our words.
Status check_words(const std::vector<Bound>& verbs, const CLI::App& app) {
  std::vector<std::string> names;
  for (const Bound& bound : verbs) names.push_back(std::string(bound.verb->name));
  for (const Bound& bound : verbs) {
    if (!bound.app->parsed()) continue;
    for (const std::string& word : bound.app->remaining()) {
      if (word.starts_with("-") && word != "-")
        return unknown(fmt::format("unknown option of {}", bound.verb->name), word, word.substr(0, word.find('=')),
                       bound.options->names());
      return Error{kReading, fmt::format("one word too many for {}", bound.verb->name), "'" + word + "'",
                   fmt::format("what `mtmc {} --help` shows", bound.verb->name)};
    }
    return bound.options->read();
  }
  const auto left = app.remaining();
  if (left.empty()) return Error{kReading, "no verb", "nothing", "one of " + join(names, ", ")};
  return unknown(left[0].starts_with("-") ? "unknown option" : "unknown verb", left[0], left[0], names);
}

// "--out --json": the parser would take the second option for the first one's value.
Status check_values(const std::vector<Bound>& verbs, const std::vector<std::string>& words) {
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    const bool taken = std::any_of(verbs.begin(), verbs.end(), [&](const Bound& bound) {
      return words.front() == bound.verb->name && bound.options->takes_value(words[i]);
    });
    if (taken && words[i + 1].starts_with("--"))
      return Error{kReading, words[i] + " has no value", "'" + words[i + 1] + "'",
                   fmt::format("a value; {}={} if that is one", words[i], words[i + 1])};
  }
  return ok_status();
}

std::vector<Bound> declare_verbs(CLI::App& app) {
  std::vector<Bound> verbs;
  for (const Verb* verb : kVerbs) {
    Bound bound{verb, app.add_subcommand(std::string(verb->name), std::string(verb->doc)), nullptr, nullptr};
    bound.app->allow_extras();
    bound.options = std::make_unique<Options>(*bound.app);
    bound.body = verb->declare(*bound.options);
    verbs.push_back(std::move(bound));
  }
  return verbs;
}

Result<int> run_command_line(int argc, char** argv) {
  CLI::App app("From a PyTorch module to a faster, verified kernel.", "mtmc");
  app.allow_extras();
  app.require_subcommand(0, 1);  // in `knowledge show` the second word is no verb
  app.footer(
      "./mtmc lm and ./mtmc train are a program of their own: the language model that --policy lm:MODEL runs.\n"
      "./mtmc --python PATH ... uses that Python (also: MTMC_PYTHON, an active virtual environment).\n"
      "Exit codes: 0 done, 1 nothing certified is faster than eager (verify: refused; bench: a task failed), 2 your "
      "mistake, 3 our bug, 130 or 143 stopped by Ctrl-C or SIGTERM.");
  std::vector<Bound> verbs = declare_verbs(app);
  MTMC_RETURN_IF_ERROR(check_values(verbs, {argv + 1, argv + argc}));
  app.set_version_flag("--version", version_line, "print what this mtmc is");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& shown) {  // --help and --version
    return app.exit(shown);
  } catch (const CLI::ArgumentMismatch&) {
    return Error{kReading, "an option has no value", argv[argc - 1], "a value after it; see --help"};
  } catch (const CLI::ParseError& error) {
    return Error{kReading, error.what(), "", ""};
  }
  MTMC_RETURN_IF_ERROR(check_words(verbs, app));
  for (const Bound& bound : verbs)
    if (bound.app->parsed()) return bound.body();
  MTMC_CHECK(false, "check_words let an empty command line pass");
}

int report(const std::string& detail) {
  fmt::print(
      stderr,
      "mtmc: this is a bug of ours, not a mistake of yours.\n{}\nPlease report it with the lines above, the command "
      "and the file it ran on; `mtmc doctor` prints what else we need.\n",
      detail);
  return kOurBug;
}

}  // namespace
}  // namespace mtmc

int main(int argc, char** argv) {
  using namespace mtmc;
  // Started without ./mtmc: the same environment for our Python children.
  setenv("MTMC_PYTHON", "python3", 0);
  setenv("PYTHONPATH", MTMC_SOURCE_DIR "/python", 0);
  setenv("PYTHONSAFEPATH", "1", 1);  // a file of the user's named torch.py or cuda.py is not the package
  std::signal(SIGXFSZ, SIG_IGN);     // a write beyond the limit on file sizes fails, and is reported like a full disk
  stop_on_interrupt();
  try {
    const Result<int> code = run_command_line(argc, argv);
    if (code.ok()) return *code;
    if (code.error().ours) return report(code.error().message());
    fmt::print(stderr, "mtmc: {}\n", code.error().message());
    return kUserMistake;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "mtmc: out of memory in mtmc itself; wanted a machine or container with more memory\n");
    return kUserMistake;
  } catch (const std::filesystem::filesystem_error& error) {
    fmt::print(stderr,
               "mtmc: using the file system: {}: wanted folders that exist and can be written to (TMPDIR too)\n",
               error.what());
    return kUserMistake;
  } catch (const std::exception& error) {
    return report(error.what());
  }
}
