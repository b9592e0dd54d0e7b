// `mtmc tasks`: writes tasks to learn from, and looks for benchmark tasks among them.
#include <fmt/core.h>

#include <memory>

#include "base/text.h"
#include "cli/verb.h"
#include "generate/cut.h"
#include "generate/write.h"

namespace mtmc {
namespace {

namespace fs = std::filesystem;

struct TasksOptions {
  std::string kind = "subgraph", size = "large", out, graphnet;
  std::vector<std::string> scanned, against;
  int64_t seed = 0, count = 10;
};

std::vector<fs::path> paths_of(const std::vector<std::string>& words) { return {words.begin(), words.end()}; }

void print_matches(const std::vector<Match>& matches) {
  for (const Match& match : matches) fmt::print("{} is {} ({})\n", match.file, match.other, match.by);
}

Result<int> scan(const TasksOptions& options) {
  if (options.against.empty())
    return Error{"scanning task files", "--against is missing", "", "the folders that none of them may be among"};
  MTMC_TRY(const Fingerprints files, fingerprints(paths_of(options.scanned)));
  MTMC_TRY(const Fingerprints others, fingerprints(paths_of(options.against)));
  const auto unread = [](const Fingerprints& prints) {
    size_t count = 0;
    for (const auto& [file, print] : prints) {
      if (print.unread.empty()) continue;
      ++count;
      fmt::print("{}: by its syntax only: {}\n", file, print.unread);
    }
    return count;
  };
  const size_t unread_files = unread(files), unread_others = unread(others);
  const std::vector<Match> found = matches(files, others);
  print_matches(found);
  fmt::print("{} of {} files are among the {} others ({} and {} were compared by their syntax only)\n", found.size(),
             files.size(), others.size(), unread_files, unread_others);
  return found.empty() ? kDone : kNotBetter;
}

Result<int> generate(const TasksOptions& options) {
  const KindDef* kind = find_kind(options.kind);
  MTMC_TRY(const WrittenTasks written, write_tasks({.kind = *kind,
                                                    .size = options.size == "small" ? TaskSize::small : TaskSize::large,
                                                    .seed = static_cast<uint64_t>(options.seed),
                                                    .count = static_cast<int>(options.count),
                                                    .out = options.out,
                                                    .against = paths_of(options.against)}));
  print_matches(written.left_out);
  double seconds = 0;
  for (const GeneratedTask& task : written.tasks) seconds += task.seconds;
  fmt::print("wrote {} tasks of the kind {} to {}, {:.0f} us each on a large GPU by estimate", written.tasks.size(),
             options.kind, options.out, seconds / static_cast<double>(written.tasks.size()) * 1e6);
  fmt::print("{}\n", options.against.empty() ? "" : fmt::format("; {} were left out", written.left_out.size()));
  return kDone;
}

Result<int> cut(const TasksOptions& options) {
  MTMC_TRY(const CutTasks done, cut_tasks({.graphnet = options.graphnet,
                                           .seed = static_cast<uint64_t>(options.seed),
                                           .count = static_cast<int>(options.count),
                                           .small = options.size == "small",
                                           .out = options.out,
                                           .against = paths_of(options.against)}));
  print_matches(done.left_out);
  std::vector<std::string> refused;
  for (const auto& [why, count] : done.refused) refused.push_back(fmt::format("{} {}", count, why));
  fmt::print("wrote {} subgraphs of {} samples to {}; other cuts: {}\n", done.written, done.samples, options.out,
             join(refused, ", "));
  return kDone;
}

VerbBody declare(Options& options) {
  const auto given = std::make_shared<TasksOptions>();
  std::vector<std::string> kinds;
  for (const KindDef* kind : all_kinds()) kinds.emplace_back(kind->name);
  options.choice(given->kind, "--kind", kinds, "what is generated");
  options.choice(given->size, "--size", {"large", "small"}, "large: worth optimising on a GPU; small: for a CPU");
  options.seed(given->seed, "--seed", "the same seed gives the same files");
  options.integer(given->count, "--count", 1, "how many");
  options.text(given->out, "--out", "DIR", "where the files go");
  options.text(given->graphnet, "--graphnet", "DIR", "cut subgraphs from the samples of this checkout of GraphNet");
  options.words(given->against, "--against", "PATH...", "leave out tasks that are among these, such as a benchmark's");
  options.words(given->scanned, "--scan", "PATH...", "write nothing; look among these for tasks of --against");
  return [given]() -> Result<int> {
    if (!given->scanned.empty()) return scan(*given);
    if (given->out.empty()) return Error{"writing tasks", "--out is missing", "", "a folder"};
    return given->graphnet.empty() ? generate(*given) : cut(*given);
  };
}

}  // namespace

extern const Verb tasks_def;
const Verb tasks_def{"tasks", "Write module files for a policy to learn from, or look for benchmark tasks among files.",
                     declare};

}  // namespace mtmc
