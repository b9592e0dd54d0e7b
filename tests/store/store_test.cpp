#include "store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/tempdir.h"
#include "store/sample.h"
#include "store/sqlite.h"

namespace mtmc {
namespace {

using testing::HasSubstr;

std::unique_ptr<Store> in_memory() { return open_store(":memory:").value(); }

TEST(Store, GivesBackARunWordForWord) {
  auto store = in_memory();
  const RunRecord run = sample_run();
  const RunId id = store->begin_run(run).value();
  const RunRecord back = store->run(id).value();
  EXPECT_EQ(back.task.json, run.task.json);
  EXPECT_EQ(back.task_hash, run.task_hash);
  EXPECT_EQ(back.hardware, run.hardware);
  EXPECT_EQ(back.seed, run.seed);
  EXPECT_EQ(back.options_hash, sha256(run.options));
  EXPECT_EQ(back.state, RunState::running);
  EXPECT_EQ(back.started.size(), std::string("2026-01-31T12:00:00Z").size());
  ASSERT_TRUE(store->finish_run(id, 2.5, Conclusion{"faster", 3}).ok());
  EXPECT_EQ(store->runs().value().at(0).state, RunState::done);
  EXPECT_EQ(store->runs().value().at(0).seconds, 2.5);
  EXPECT_EQ(store->runs().value().at(0).conclusion, (Conclusion{"faster", 3}));
}

TEST(Store, GivesBackATreeWithItsVerdicts) {
  auto store = in_memory();
  const RunId run = store->begin_run(sample_run()).value();
  const NodeId start = store->add_node(sample_node(run, kNoNode, 0, "code 0")).value();
  NodeRecord child = sample_node(run, start, 1, "code 1");
  child.rewrites = true, child.partner = start;
  child.note = R"({"tried":3})";
  const NodeId step = store->add_node(child).value();
  ASSERT_TRUE(store->add_verdict(step, sample_verdict(2, Tier::certify)).ok());
  const auto nodes = store->nodes(run).value();
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[1].parent, start);
  EXPECT_EQ(nodes[1].partner, start);
  EXPECT_EQ(nodes[0].partner, kNoNode);
  EXPECT_EQ(nodes[1].code, "code 1");
  EXPECT_EQ(nodes[1].code_hash, sha256("code 1"));
  EXPECT_EQ(nodes[1].program, "program of code 1");
  EXPECT_TRUE(nodes[1].rewrites);
  EXPECT_EQ(nodes[1].note, child.note);
  EXPECT_EQ(to_json(*nodes[1].screen), to_json(*child.screen));
  EXPECT_EQ(nodes[1].verdict()->tier, Tier::certify);
  EXPECT_EQ(nodes[1].verdict()->times.at("candidate").samples_ms, (std::vector<double>{2, 3, 2}));
  EXPECT_FALSE(nodes[0].certify);
  EXPECT_EQ(path_to(nodes, step).size(), 2u);
  EXPECT_EQ(best_node(nodes)->id, step);
}

TEST(Store, AnAttemptWithoutCodeKeepsItsReason) {
  auto store = in_memory();
  const RunId run = store->begin_run(sample_run()).value();
  NodeRecord node = sample_node(run, kNoNode, 1, "");
  node.screen.reset(), node.program.clear();
  node.failure = "cannot fuse across a softmax";
  const NodeId id = store->add_node(node).value();
  EXPECT_EQ(store->node(id).value().failure, node.failure);
  EXPECT_EQ(store->node(id).value().code_hash, "");
  EXPECT_EQ(best_node(store->nodes(run).value()), nullptr);
}

TEST(Store, TheSameAttemptTwiceIsOneNode) {
  auto store = in_memory();
  const RunId run = store->begin_run(sample_run()).value();
  const NodeId start = store->add_node(sample_node(run, kNoNode, 0, "code 0")).value();
  EXPECT_EQ(store->add_node(sample_node(run, kNoNode, 0, "code 0")).value(), start);
  const NodeId child = store->add_node(sample_node(run, start, 1, "code 1")).value();
  EXPECT_EQ(store->add_node(sample_node(run, start, 1, "code 1")).value(), child);
  EXPECT_NE(store->add_node(sample_node(run, start, 1, "another code for the same action")).value(), child);
  EXPECT_EQ(store->nodes(run).value().size(), 3u);
}

TEST(Store, FindsAVerdictByContentInAnotherRun) {
  auto store = in_memory();
  const RunId run = store->begin_run(sample_run()).value();
  ASSERT_TRUE(store->add_node(sample_node(run, kNoNode, 0, "code 0")).ok());
  VerdictKey key{sample_run().task_hash, sha256("code 0"), Tier::screen, "1", null_hardware().name};
  ASSERT_TRUE(store->find_verdict(key).value().has_value());
  EXPECT_EQ(store->find_verdict(key).value()->time_ms, 4);
  for (auto change : {+[](VerdictKey& k) { k.tier = Tier::certify; }, +[](VerdictKey& k) { k.evaluator = "2"; },
                      +[](VerdictKey& k) { k.hardware = "H200"; }, +[](VerdictKey& k) { k.code_hash = sha256("x"); },
                      +[](VerdictKey& k) { k.task_hash = "y"; }}) {
    VerdictKey other = key;
    change(other);
    EXPECT_FALSE(store->find_verdict(other).value().has_value());
  }
}

TEST(Store, AVerdictOfABusyMachineIsKeptAndNotReused) {
  auto store = in_memory();
  const RunId run = store->begin_run(sample_run()).value();
  NodeRecord node = sample_node(run, kNoNode, 0, "code 0");
  node.screen->outcome = Outcome::refused;
  node.screen->reason = "timed-out";
  const NodeId id = store->add_node(node).value();
  const VerdictKey key{sample_run().task_hash, sha256("code 0"), Tier::screen, "1", null_hardware().name};
  EXPECT_FALSE(store->find_verdict(key).value().has_value());
  EXPECT_EQ(store->node(id).value().screen->reason, "timed-out");
  ASSERT_TRUE(store->add_verdict(id, sample_verdict(3)).ok());
  EXPECT_EQ(store->find_verdict(key).value()->time_ms, 3);
  EXPECT_EQ(store->node(id).value().screen->reason, "");
}

TEST(Store, ATimingThatSaysNothingIsNotReused) {
  auto store = in_memory();
  const RunId run = store->begin_run(sample_run()).value();
  NodeRecord node = sample_node(run, kNoNode, 0, "code 0");
  node.screen->speedup["eager"] = {3.1, 0.17, 51.7};
  ASSERT_TRUE(store->add_node(node).ok());
  VerdictKey key{sample_run().task_hash, sha256("code 0"), Tier::screen, "1", null_hardware().name};
  EXPECT_FALSE(store->find_verdict(key).value().has_value());
  key.of_the_moment = true;
  EXPECT_TRUE(store->find_verdict(key).value().has_value());
}

TEST(Store, RemembersBuildsAndTunings) {
  auto store = in_memory();
  EXPECT_FALSE(store->recall("tuning", "k").value().has_value());
  ASSERT_TRUE(store->remember("tuning", "k", R"({"m":16})").ok());
  ASSERT_TRUE(store->remember("tuning", "k", R"({"m":32})").ok());
  EXPECT_EQ(store->recall("tuning", "k").value(), R"({"m":32})");
  EXPECT_FALSE(store->recall("build", "k").value().has_value());
}

TEST(Store, TheBestNodeIsTheFastestCertifiedOneOfTheHigherTier) {
  std::vector<NodeRecord> nodes(4);
  for (int i = 0; i < 4; ++i) nodes[static_cast<size_t>(i)].id = i + 1, nodes[static_cast<size_t>(i)].parent = i > 0;
  nodes[0].screen = sample_verdict(6);
  nodes[1].screen = sample_verdict(1);
  nodes[1].screen->outcome = Outcome::refused;
  nodes[2].screen = sample_verdict(3);
  nodes[3].screen = sample_verdict(2);
  EXPECT_EQ(best_node(nodes)->id, 4);
  nodes[2].certify = sample_verdict(3, Tier::certify);
  EXPECT_EQ(best_node(nodes)->id, 3);
  nodes[3].certify = sample_verdict(2, Tier::certify);
  nodes[3].certify->outcome = Outcome::refused;
  EXPECT_EQ(best_node(nodes)->id, 3);
}

TEST(Store, TheResultIsWhatTheConclusionNames) {
  std::vector<NodeRecord> nodes(2);
  nodes[0].id = 1, nodes[0].screen = sample_verdict(6);
  nodes[1].id = 2, nodes[1].parent = 1, nodes[1].screen = sample_verdict(3);
  RunRecord run = sample_run();
  EXPECT_EQ(result_node(run, nodes)->id, 2) << "the best so far";
  run.conclusion = Conclusion{"not-faster", 1};
  EXPECT_EQ(result_node(run, nodes)->id, 1);
  run.conclusion = Conclusion{"refused", kNoNode};
  EXPECT_EQ(result_node(run, nodes), nullptr);
}

TEST(Store, ScoresAreHeadlinesAndTheStartIsWhatEagerDoes) {
  Verdict verdict = sample_verdict(3);
  verdict.speedup["eager"] = {35.67, 1.5, 51.7};
  EXPECT_EQ(score(verdict, false), 1.5);
  EXPECT_EQ(score(verdict, true), 1);
  verdict.speedup["eager"] = {0.9, 0.5, 1.2};
  EXPECT_EQ(score(verdict, false), 0.5);
  EXPECT_EQ(score(verdict, true), 1);
  verdict.speedup["eager"] = {0.7, 0.69, 0.72};
  EXPECT_EQ(score(verdict, true), 0.7);
  verdict.outcome = Outcome::refused;
  EXPECT_EQ(score(verdict, true), 0);
}

TEST(Store, TaskHashSeesEveryPart) {
  const Task task{"a", "{}"};
  EXPECT_NE(hash_task(task, "x"), hash_task(task, "y"));
  EXPECT_NE(hash_task(task, "x", "graph"), hash_task(task, "x"));
  EXPECT_NE(hash_task({"a", "{} "}, "x"), hash_task(task, "x"));
}

// --- failures -------------------------------------------------------------------------------------------------------

TEST(Store, RefusesANewerSchema) {
  TempDir dir;
  const auto path = dir.path() / "store.db";
  ASSERT_TRUE(open_store(path).ok());
  Database::open(path, Access::write).value().run("UPDATE schema SET version = 99").value();
  for (OpenFor purpose : {OpenFor::writing, OpenFor::reading}) {
    const auto again = open_store(path, purpose);
    ASSERT_FALSE(again.ok());
    EXPECT_THAT(again.error().message(),
                HasSubstr("a newer mtmc has written it: got schema 99, wanted schema 2 or older"));
  }
}

TEST(Store, BringsAnOlderSchemaUpToDate) {
  TempDir dir;
  const auto path = dir.path() / "store.db";
  RunId run = 0;
  {
    const auto store = open_store(path).value();
    run = store->begin_run(sample_run()).value();
    ASSERT_TRUE(store->add_node(sample_node(run, kNoNode, 0, "code 0")).ok());
  }
  {
    Database database = Database::open(path, Access::write).value();
    ASSERT_TRUE(database.run("ALTER TABLE nodes DROP COLUMN partner").ok());
    ASSERT_TRUE(database.run("UPDATE schema SET version = 1").ok());
  }
  EXPECT_THAT(open_store(path, OpenFor::reading).error().message(), HasSubstr("an older mtmc has written it"));
  const auto nodes = open_store(path).value()->nodes(run).value();
  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_EQ(nodes[0].code, "code 0");
  EXPECT_EQ(nodes[0].partner, kNoNode);
  EXPECT_TRUE(open_store(path, OpenFor::reading).ok());
}

TEST(Store, RefusesAFileThatIsNoStore) {
  TempDir dir;
  std::ofstream(dir.path() / "notes.txt")
      << "This is a plain text file, longer than a header of a database would be.\n";
  const auto plain = open_store(dir.path() / "notes.txt");
  ASSERT_FALSE(plain.ok());
  EXPECT_THAT(plain.error().message(), HasSubstr("file is not a database: wanted a store made by mtmc"));
  Database::open(dir.path() / "other.db", Access::write).value().run("CREATE TABLE birds (name)").value();
  const auto other = open_store(dir.path() / "other.db");
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.error().message(), HasSubstr("not a store of mtmc: got a table 'birds'"));
}

TEST(Store, ReadingNeedsAStore) {
  TempDir dir;
  const auto none = open_store(dir.path() / "none.db", OpenFor::reading);
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message(), HasSubstr("there is none"));
  EXPECT_FALSE(std::filesystem::exists(dir.path() / "none.db"));
}

TEST(Store, NamesARunThatIsNotThere) {
  const auto none = in_memory()->run(7);
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message(), HasSubstr("no such run: got 7, wanted one of those that `mtmc show` lists"));
}

// Runs `body` in a child that may not write root's files, and returns what it printed.
std::string as_nobody(const std::function<std::string()>& body) {
  int pipe_ends[2];
  EXPECT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(2);
    const std::string said = body();
    _exit(write(pipe_ends[1], said.data(), said.size()) == static_cast<ssize_t>(said.size()) ? 0 : 1);
  }
  close(pipe_ends[1]);
  std::string said(8192, '\0');
  said.resize(static_cast<size_t>(std::max<ssize_t>(0, read(pipe_ends[0], said.data(), said.size()))));
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  return said;
}

TEST(Store, AFolderWithoutWritePermission) {
  TempDir dir;
  std::filesystem::permissions(dir.path(), std::filesystem::perms(0555));
  const auto path = dir.path() / "deep" / "store.db";
  const std::string said = as_nobody([&] { return open_store(path).error().message(); });
  EXPECT_THAT(said, HasSubstr("its folder cannot be made: got Permission denied, wanted a folder that you may write"));
  const std::string flat = as_nobody([&] { return open_store(dir.path() / "store.db").error().message(); });
  EXPECT_THAT(flat, HasSubstr("unable to open database file: wanted a file and folder that you may write"));
}

TEST(Store, AStoreWithoutWritePermissionCanStillBeShown) {
  TempDir dir;
  const auto path = dir.path() / "store.db";
  open_store(path).value()->begin_run(sample_run()).value();
  std::filesystem::permissions(path, std::filesystem::perms(0444));
  std::filesystem::permissions(dir.path(), std::filesystem::perms(0555));
  const std::string writing = as_nobody([&] {
    auto store = open_store(path);
    if (!store.ok()) return store.error().message();
    const auto id = store.value()->begin_run(sample_run());
    return id.ok() ? "wrote" : id.error().message();
  });
  EXPECT_THAT(writing, HasSubstr("readonly database: wanted a file and folder that you may write"));
  const std::string reading = as_nobody([&] {
    auto store = open_store(path, OpenFor::reading);
    return store.ok() ? "runs " + std::to_string(store.value()->runs().value().size()) : store.error().message();
  });
  EXPECT_EQ(reading, "runs 1");
}

TEST(StorePath, OptionThenVariableThenHome) {
  setenv("MTMC_STORE", "/a/b.db", 1);
  EXPECT_EQ(store_path("x.db"), "x.db");
  EXPECT_EQ(store_path(), "/a/b.db");
  unsetenv("MTMC_STORE");
  unsetenv("XDG_DATA_HOME");
  setenv("HOME", "/home/u", 1);
  EXPECT_EQ(store_path(), "/home/u/.local/share/mtmc/store.db");
}

}  // namespace
}  // namespace mtmc
