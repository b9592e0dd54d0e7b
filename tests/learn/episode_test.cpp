// Both dynamics on the null target: what a random policy meets in the tree of a search is what it meets live.
#include "learn/episode.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/hash.h"
#include "coder/beyond.h"
#include "learn/live.h"
#include "learn/tree.h"
#include "search/free_text.h"
#include "search/world.h"
#include "targets/shell_json.h"

namespace mtmc {
namespace {

using testing::World;

// The builtin coder with mistakes that depend on the state alone: in the tree and live they are the same.
class Mistaken final : public Coder {
 public:
  explicit Mistaken(World& world) : other_(world.coder) {}
  std::string name() const override { return "mistaken"; }
  Result<Implementation> implement(const CoderRequest& request) override {
    MTMC_TRY(Implementation made, other_.implement(request));
    const uint64_t kind = std::stoull(short_hash(state_hash(*made.program), 8), nullptr, 16) % 6;
    if (kind == 0) return Error{"coding", "no idea", "", ""};
    if (kind == 1) made.code.text += "# fault: compile-error\n";
    if (kind == 2) made.code.text += "# fault: wrong-result\n";
    return made;
  }

 private:
  Coder& other_;
};

// Tries everything that is legal, to a depth of `steps`.
void explore(World& world, int steps, int evaluations, Coder* coder = nullptr) {
  world.request.shell_json = to_json_text(world.request.shell);
  world.request.limits = {.steps = steps, .seconds = 0, .evaluations = evaluations};
  world.request.strategy_options.width = world.request.strategy_options.breadth = 1000;
  world.policy = "random";
  for (uint64_t seed = 1; seed <= 3; ++seed) {  // a random order has its stop somewhere
    world.request.seed = seed;
    const auto done = world.run(world.judge, coder != nullptr ? *coder : world.coder);
    ASSERT_TRUE(done.ok()) << done.error().message();
  }
}

RunId begun(Store& store, const World& world) {
  RunRecord run;
  run.task = world.request.task, run.task_hash = "live";
  return store.begin_run(run).value();
}

// A live environment of its own for the world's task.
struct Live {
  explicit Live(World& world, Coder& coder)
      : policy(find_policy("random")->make({world.hardware, world.target}).value()),
        environment({.task = world.request.task,
                     .task_hash = "live",
                     .description = world.request.shell.description,
                     .evaluator = world.request.evaluator,
                     .baselines = {},
                     .program = world.program,
                     .target = world.target,
                     .hardware = world.hardware,
                     .shell = world.request.shell,
                     .limits = {.steps = 100, .seconds = 0, .evaluations = 0},
                     .run = begun(*store, world)},
                    world.judge, *store, coder, *policy, world.recorder),
        dynamics(environment) {}
  std::unique_ptr<Store> store = open_store(":memory:").value();
  std::unique_ptr<Policy> policy;
  Environment environment;
  LiveDynamics dynamics;
};

// Walks at random in the tree, and does the same live. Returns the rewards.
std::vector<double> walk_in_both(World& world, Coder& coder, bool mistakes = false) {
  std::vector<double> rewards;
  TreeDynamics dynamics(trees_of(*world.store).value());
  Live live(world, coder);
  Episode in_tree(dynamics, {}), in_life(live.dynamics, {});
  Rng rng(5);
  int parted = 0;
  for (int episode = 0; episode < 40; ++episode) {
    EXPECT_TRUE(in_tree.reset(0, 1).ok() && in_life.reset(0, 1).ok());
    while (!in_tree.done()) {
      const size_t chosen = rng.below(in_tree.actions().size());
      const std::string text = in_tree.actions()[chosen];
      const auto& offered = in_life.actions();
      const auto same = std::find(offered.begin(), offered.end(), text);
      EXPECT_EQ(in_tree.place().code, in_life.place().code);
      if (same == offered.end()) {
        // A refused Program, for which a remedy was known from some places and not from others (they lay too deep).
        EXPECT_TRUE(mistakes) << text;
        EXPECT_LT(++parted, 8) << "of 40 episodes";
        break;
      }
      const auto tree_step = in_tree.step(chosen),
                 live_step = in_life.step(static_cast<size_t>(same - offered.begin()));
      EXPECT_TRUE(tree_step.ok() && live_step.ok());
      EXPECT_NEAR(tree_step->reward, live_step->reward, 1e-12) << text;
      EXPECT_EQ(in_tree.place().state, in_life.place().state);
      if (text != "stop") rewards.push_back(tree_step->reward);
    }
    EXPECT_DOUBLE_EQ(in_tree.best(), in_life.best());
  }
  return rewards;
}

TEST(Episode, TheTreeRewardsWhatTheLiveEnvironmentRewards) {
  World world;
  explore(world, 3, 400);
  const std::vector<double> rewards = walk_in_both(world, world.coder);
  EXPECT_GT(rewards.size(), 40u);
  EXPECT_NE(std::count(rewards.begin(), rewards.end(), 0), 0) << "no state was there twice";
}

TEST(Episode, TheTreeRewardsMistakesAsTheLiveEnvironmentDoes) {
  World world;
  Mistaken mistaken(world);
  explore(world, 4, 400, &mistaken);
  const std::vector<double> rewards = walk_in_both(world, mistaken, true);
  for (const double penalty : {-1.0, -0.5}) EXPECT_GT(std::count(rewards.begin(), rewards.end(), penalty), 1);
}

TEST(Episode, TheSameSeedIsTheSameEpisode) {
  World world;
  explore(world, 3, 60);
  TreeDynamics dynamics(trees_of(*world.store).value());
  const auto rewards = [&](uint64_t seed) {
    Episode episode(dynamics, {});
    Rng rng(seed);
    std::vector<double> all;
    EXPECT_TRUE(episode.reset(0, seed).ok());
    while (!episode.done()) all.push_back(episode.step(rng.below(episode.actions().size()))->reward);
    return all;
  };
  EXPECT_EQ(rewards(3), rewards(3));
}

TEST(Episode, ShowsWhatWasDoneAndWhatItDid) {
  World world;
  explore(world, 2, 60);
  TreeDynamics dynamics(trees_of(*world.store).value());
  Episode episode(dynamics, {.steps = 2});
  ASSERT_TRUE(episode.reset(0, 1).ok());
  const std::string first = episode.actions().front();
  ASSERT_TRUE(episode.step(0).ok());
  const auto prompt = episode.prompt({.context = 10000});
  ASSERT_TRUE(prompt.ok());
  EXPECT_NE(prompt->find("1. " + first + ": "), std::string::npos) << *prompt;
  EXPECT_NE(prompt->find("step 2 of 2\n"), std::string::npos);
  EXPECT_EQ(episode.actions().back(), "stop");
  const auto stopped = episode.step(episode.actions().size() - 1);
  EXPECT_TRUE(stopped->done && !stopped->cut);
  EXPECT_EQ(stopped->reward, 0);
}

TEST(Tree, AnUnknownActionIsHiddenOrEndsTheEpisode) {
  World world;
  explore(world, 1, 3);
  const Tree hidden = trees_of(*world.store).value().front();
  const Tree ends = trees_of(*world.store, {.unknown = Unknown::ends}).value().front();
  EXPECT_LT(hidden.places[0].actions.size(), ends.places[0].actions.size());
  EXPECT_EQ(hidden.places[0].actions.size() + hidden.places[0].left_out,
            ends.places[0].actions.size() + ends.places[0].left_out);
  TreeDynamics dynamics({ends});
  Episode episode(dynamics, {});
  ASSERT_TRUE(episode.reset(0, 1).ok());
  for (size_t i = 0; i < ends.places[0].actions.size(); ++i) {
    if (!ends.outcomes[0][i].empty()) continue;
    const auto stepped = episode.step(i);
    EXPECT_TRUE(stepped->done && stepped->cut);
    EXPECT_EQ(stepped->reward, 0);
    return;
  }
  FAIL() << "three candidates cannot be all";
}

// The builtin coder, and beyond it free code that is right where it lowers.
class Beyond final : public Coder {
 public:
  explicit Beyond(World& world) : world_(world) {}
  std::string name() const override { return "beyond"; }
  Result<std::vector<Proposal>> proposals(const CodeState& state, const std::vector<Proposal>& legal) override {
    if (state.program == nullptr) return std::vector<Proposal>{};
    return proposals_beyond(state, legal, {world_.hardware, world_.target, false});
  }
  Result<Implementation> implement(const CoderRequest& request) override {
    if (auto made = world_.coder.implement(request); made.ok()) return made;
    return Implementation{
        nullptr, Code{.text = "# " + request.action.type + (request.action.type == "lower" ? ": right" : "")}, ""};
  }

 private:
  World& world_;
};

TEST(Tree, OffersWhatWasAskedBeyondOurActionsAndJudged) {
  World world("null", testing::sorted());
  world.request.shell_json = to_json_text(world.request.shell);
  world.request.limits = {.steps = 2, .seconds = 0, .evaluations = 0};
  world.request.strategy_options.width = world.request.strategy_options.breadth = 1000;
  Beyond coder(world);
  testing::FreeTextJudge judge(world.judge);
  ASSERT_TRUE(world.run(judge, coder).ok());
  const Tree tree = trees_of(*world.store).value().front();
  const std::vector<PlaceAction>& actions = tree.places[0].actions;
  const auto outcome_of = [&](const std::string& name) {
    for (size_t i = 0; i < actions.size(); ++i)
      if (actions[i].action == name) return tree.outcomes[0][i];
    return std::vector<int>();
  };
  const std::vector<int> lowered = outcome_of("lower %1 %2"), fused = outcome_of("fuse %1 %2 %3");
  ASSERT_EQ(lowered.size(), 1u);
  EXPECT_EQ(tree.places[lowered[0]].outcome, "certified");
  EXPECT_EQ(tree.places[lowered[0]].code, "# lower: right");
  ASSERT_EQ(fused.size(), 1u);
  EXPECT_EQ(tree.places[fused[0]].outcome, "wrong-result");
  World asks_nobody("null", testing::sorted());
  explore(asks_nobody, 1, 0);
  for (const PlaceAction& action : trees_of(*asks_nobody.store).value().front().places[0].actions)
    EXPECT_NE(action.action, "lower %1 %2") << "nobody knows what would become of it";
}

// A coder that writes what does not build, every other time.
class Clumsy final : public Coder {
 public:
  explicit Clumsy(Coder& other) : other_(other) {}
  std::string name() const override { return "clumsy"; }
  Result<Implementation> implement(const CoderRequest& request) override {
    MTMC_TRY(Implementation made, other_.implement(request));
    if (++calls_ % 2 == 0) made.code.text += "# fault: compile-error " + std::to_string(calls_) + "\n";
    return made;
  }

 private:
  Coder& other_;
  int calls_ = 0;
};

TEST(Tree, LeadsToEachOfSeveralResultsByTheSeed) {
  World world;
  world.request.shell_json = to_json_text(world.request.shell);
  world.request.limits = {.steps = 1, .seconds = 0, .evaluations = 1};
  world.strategy = "rollout";
  Clumsy clumsy(world.coder);
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    world.request.seed = seed;
    ASSERT_TRUE(world.run(world.judge, clumsy).ok());
  }
  TreeDynamics dynamics(trees_of(*world.store).value());
  const Tree& tree = dynamics.trees().front();
  ASSERT_EQ(tree.places[0].actions.size(), 1u);
  EXPECT_EQ(tree.outcomes[0][0].size(), 6u);
  Episode episode(dynamics, {});
  int broken = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    ASSERT_TRUE(episode.reset(0, seed).ok());
    const std::string before = episode.place().state;
    const auto stepped = episode.step(0);
    if (stepped->reward > 0) continue;
    ++broken;
    EXPECT_EQ(stepped->reward, -1);
    EXPECT_EQ(episode.place().state, before);
    EXPECT_EQ(episode.history().back().outcome, "compile-error");
  }
  EXPECT_GT(broken, 5);
  EXPECT_LT(broken, 45);
}

// A tree of three states: from the first one action leads to each of the others, and one is refused; from those there
// are only ways to each other and back.
Tree triangle() {
  Tree tree{"triangle", "", "", std::vector<Place>(4), {{{1}, {2}, {3}}, {{0}, {2}}, {{1}, {0}}, {}}};
  for (size_t i = 0; i < 4; ++i) tree.places[i].state = std::to_string(i), tree.places[i].time = 1.0 / (1.0 + i);
  tree.places[3].standing = Standing::wrong;
  tree.places[0].actions = {{"to 1", "a"}, {"to 2", "b"}, {"refused", "c"}};
  tree.places[1].actions = {{"back to 0", "a"}, {"on to 2", "b"}};
  tree.places[2].actions = {{"back to 1", "a"}, {"back to 0", "b"}};
  return tree;
}

TEST(Episode, OffersWhatIsNewThenWaysBackEachOnce) {
  TreeDynamics dynamics({triangle()});
  Episode episode(dynamics, {});
  ASSERT_TRUE(episode.reset(0, 1).ok());
  using ::testing::ElementsAre;
  EXPECT_THAT(episode.actions(), ElementsAre("to 1", "to 2", "refused", "stop"));
  ASSERT_TRUE(episode.step(2).ok());
  EXPECT_THAT(episode.actions(), ElementsAre("to 1", "to 2", "stop")) << "what was refused is not tried again";
  ASSERT_TRUE(episode.step(0).ok());
  EXPECT_THAT(episode.actions(), ElementsAre("on to 2", "stop"));
  ASSERT_TRUE(episode.step(0).ok());
  EXPECT_THAT(episode.actions(), ElementsAre("back to 1", "back to 0", "stop"));
  EXPECT_THAT(episode.offered(), ElementsAre(0, 1));
  ASSERT_TRUE(episode.step(1).ok());
  EXPECT_THAT(episode.actions(), ElementsAre("to 2", "stop")) << "the way that was not taken";
  ASSERT_TRUE(episode.step(0).ok());
  EXPECT_THAT(episode.actions(), ElementsAre("back to 1", "stop"));
  ASSERT_TRUE(episode.step(0).ok());
  EXPECT_THAT(episode.actions(), ElementsAre("back to 0", "stop"));
  ASSERT_TRUE(episode.step(0).ok());
  EXPECT_TRUE(episode.done()) << "every way was taken";
  EXPECT_EQ(episode.taken(), 7);
}

}  // namespace
}  // namespace mtmc
