// `mtmc dataset`: what a store holds as trees to learn from, in a file; and what such a file holds.
#include <fmt/core.h>

#include <map>
#include <memory>

#include "base/progress.h"
#include "cli/verb.h"
#include "learn/dataset.h"

namespace mtmc {
namespace {

struct DatasetOptions {
  std::string what, file, store, unknown = "hidden", show = "code";
  std::vector<std::string> parts;
};

void print_facts(const std::vector<Tree>& trees) {
  const DatasetFacts facts = facts_of(trees);
  fmt::print("{} tasks, {} states ({} right, {} refused; median {} a task), {} transitions, {} of them without code\n",
             facts.tasks, facts.states, facts.right, facts.refused, facts.median_states, facts.transitions,
             facts.no_code);
  fmt::print("{:.0f} trajectories of at most 8 steps to a right state\n", facts.trajectories);
  fmt::print("{:<12}{:>10}{:>10}{:>10}\n", "type", "offered", "tried", "best next");
  for (const auto& [type, counts] : facts.types)
    fmt::print("{:<12}{:>10}{:>10}{:>10}\n", type, counts.offered, counts.tried, counts.best);
}

// The trees of several files, which were collected apart. An Error: a task of one machine in two of them, whose states
// only a store can merge.
Result<std::vector<Tree>> joined(const std::vector<std::string>& files) {
  std::vector<Tree> all;
  std::map<std::pair<std::string, std::string>, std::string> seen;
  for (const std::string& file : files) {
    MTMC_TRY(std::vector<Tree> trees, read_trees(file));
    for (Tree& tree : trees) {
      const auto [known, is_new] = seen.try_emplace({tree.name, tree.hardware}, file);
      if (!is_new)
        return Error{"joining datasets", fmt::format("{} on the same machine is in two of them", tree.name),
                     known->second + " and " + file, "each task in one file, or both collected into one store"};
      all.push_back(std::move(tree));
    }
  }
  if (all.empty()) return Error{"joining datasets", "there is nothing to join", "", "files that export wrote"};
  return all;
}

Result<int> run_dataset(const DatasetOptions& options) {
  if (options.what == "describe") {
    MTMC_TRY(const std::vector<Tree> trees, read_trees(options.file));
    print_facts(trees);
    return kDone;
  }
  if (options.what == "join") {
    MTMC_TRY(const std::vector<Tree> trees, joined(options.parts));
    MTMC_RETURN_IF_ERROR(write_trees(options.file, trees));
    print_facts(trees);
    return kDone;
  }
  if (options.what != "export")
    return Error{"choosing what to do with a dataset", "there is no such word", "'" + options.what + "'",
                 "export, join or describe"};
  MTMC_TRY(const auto store, open_store(store_path(options.store), OpenFor::reading));
  const Unknown unknown = options.unknown == "ends" ? Unknown::ends : Unknown::hidden;
  Progress progress(stderr);
  const auto built = [&](size_t done, size_t of) {
    progress.live(static_cast<double>(done) / static_cast<double>(of), -1, "", fmt::format("{} of {} trees", done, of));
  };
  MTMC_TRY(const std::vector<Tree> trees,
           trees_of(*store, {.unknown = unknown, .program = options.show == "program", .built = built}));
  progress.clear();
  MTMC_RETURN_IF_ERROR(write_trees(options.file, trees));
  print_facts(trees);
  return kDone;
}

VerbBody declare(Options& options) {
  const auto given = std::make_shared<DatasetOptions>();
  options.positional(given->what, "WORD",
                     "export: from the store to FILE; join: the trees of --from in FILE; describe: what FILE holds");
  options.positional(given->file, "FILE", "the dataset, lines of JSON");
  options.words(given->parts, "--from", "FILE...", "join: datasets that were collected apart");
  options.choice(given->unknown, "--unknown", {"hidden", "ends"},
                 "what becomes of actions that were never tried: not offered, or they end an episode");
  options.choice(given->show, "--view", {"code", "program"}, "what a policy is shown of a state");
  options.text(given->store, "--store", "FILE",
               "where all attempts are kept ($MTMC_STORE, else ~/.local/share/mtmc/store.db)");
  return [given] { return run_dataset(*given); };
}

}  // namespace

extern const Verb dataset_def;
const Verb dataset_def{"dataset", "Write what a store holds to a file, as trees for a policy to learn from.", declare};

}  // namespace mtmc
