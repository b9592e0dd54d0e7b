// Steps per second of the environment over trees: random episodes on a dataset that `mtmc dataset export` wrote.
//   ninja -C build/release bench_learn && build/release/bench_learn FILE [SECONDS]
#include <fmt/core.h>

#include <cstdlib>

#include "base/process.h"
#include "learn/dataset.h"
#include "learn/episode.h"

namespace mtmc {
namespace {

struct Speed {
  long steps = 0, episodes = 0;
  double seconds = 0, tokens = 0;
};

// `prompts`: each observation is written, as a policy that reads would have it.
Speed run(TreeDynamics& dynamics, double seconds, bool prompts) {
  Episode episode(dynamics, {});
  Rng rng(1);
  Speed speed;
  const double start = now_seconds();
  for (; speed.seconds < seconds; speed.seconds = now_seconds() - start, ++speed.episodes) {
    if (!episode.reset(rng.below(dynamics.tasks()), rng.next()).ok()) continue;
    while (!episode.done()) {
      if (prompts) speed.tokens += static_cast<double>(quarter_of_characters(episode.prompt({}).value()));
      MTMC_CHECK(episode.step(rng.below(episode.actions().size())).ok(), "a step in a tree cannot fail");
      ++speed.steps;
    }
  }
  return speed;
}

int main_of(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: bench_learn FILE [SECONDS]\n");
    return 2;
  }
  auto trees = read_trees(argv[1]);
  if (!trees.ok()) {
    fmt::print(stderr, "{}\n", trees.error().message());
    return 2;
  }
  TreeDynamics dynamics(std::move(trees).value());
  const double seconds = argc > 2 ? std::atof(argv[2]) : 5;
  for (const bool prompts : {false, true}) {
    const Speed speed = run(dynamics, seconds, prompts);
    fmt::print("{:<16} {:>10.0f} steps a second, {:.1f} steps an episode", prompts ? "with prompts" : "without prompts",
               speed.steps / speed.seconds, static_cast<double>(speed.steps) / speed.episodes);
    fmt::print("{}\n", prompts ? fmt::format(", {:.0f} tokens a prompt", speed.tokens / speed.steps) : "");
  }
  return 0;
}

}  // namespace
}  // namespace mtmc

int main(int argc, char** argv) { return mtmc::main_of(argc, argv); }
