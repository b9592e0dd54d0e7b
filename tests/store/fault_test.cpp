// Kills, two writers, a disk that is full: the store stays whole and holds only whole attempts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "base/hash.h"
#include "base/rng.h"
#include "base/tempdir.h"
#include "store/sample.h"
#include "store/sqlite.h"

namespace mtmc {
namespace {

using Path = std::filesystem::path;

// Runs `body` in a child process, which has its own connections; returns its pid.
template <typename Body>
pid_t in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  return child;
}

int exit_status(pid_t child) {
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string filler(int i) { return "code " + std::to_string(i) + std::string(20'000, 'x'); }

// Takes up the unfinished run (or begins it) and adds attempts until `most` exist.
int write_attempts(const Path& path, int most, const std::string& options) {
  auto store = open_store(path).value();
  const RunRecord fresh = sample_run(options);
  const auto open_run = store->find_resumable(fresh.task_hash, sha256(options)).value();
  const RunId run = open_run ? open_run->id : store->begin_run(fresh).value();
  auto nodes = store->nodes(run).value();
  NodeId parent = nodes.empty() ? kNoNode : nodes.back().id;
  for (int i = static_cast<int>(nodes.size()); i < most; ++i) {
    NodeRecord node = sample_node(run, parent, i, filler(i));
    node.certify = sample_verdict(1, Tier::certify);
    parent = store->add_node(node).value();
  }
  return 0;
}

void expect_whole(const Path& path) {
  auto database = Database::open(path, Access::write).value();
  EXPECT_EQ(text(database.query("PRAGMA integrity_check").value()[0][0]), "ok");
  EXPECT_TRUE(database.query("PRAGMA foreign_key_check").value().empty());
  // Half an attempt would be a node without its text, or with one of its two verdicts.
  const auto half = database.query(
      "SELECT id FROM nodes WHERE code_hash IS NULL OR 2 != (SELECT count(*) FROM node_verdicts WHERE node = "
      "nodes.id)");
  EXPECT_TRUE(half.value().empty());
}

TEST(StoreFaults, KilledWhileWritingAgainAndAgain) {
  TempDir dir;
  const Path path = dir.path() / "store.db";
  Rng rng(7);
  size_t most_seen = 0;
  for (int round = 0; round < 25 || (most_seen <= 20 && round < 500); ++round) {  // more on a busy machine
    const pid_t child = in_child([&] { return write_attempts(path, 100'000, "{}"); });
    usleep(static_cast<useconds_t>(5'000 + rng.below(60'000)));
    kill(child, SIGKILL);
    EXPECT_EQ(exit_status(child), 128 + SIGKILL) << "round " << round;
    if (!std::filesystem::exists(path)) continue;  // killed before it was made
    auto store = open_store(path).value();         // migrates when the kill came before the tables were made
    const auto runs = store->runs().value();
    if (runs.empty()) continue;
    ASSERT_EQ(runs.size(), 1u) << "the same command resumes";
    const auto nodes = store->nodes(runs[0].id).value();
    for (size_t i = 0; i < nodes.size(); ++i) {
      EXPECT_EQ(nodes[i].step, static_cast<int>(i));
      EXPECT_EQ(nodes[i].parent, i == 0 ? kNoNode : nodes[i - 1].id);
      EXPECT_EQ(nodes[i].code, filler(static_cast<int>(i)));
      EXPECT_TRUE(nodes[i].screen && nodes[i].certify);
    }
    EXPECT_GE(nodes.size(), most_seen) << "what was committed stays";
    most_seen = nodes.size();
    expect_whole(path);
  }
  EXPECT_GT(most_seen, 20u);
}

TEST(StoreFaults, TwoProcessesWriteAtOnce) {
  TempDir dir;
  const Path path = dir.path() / "store.db";
  constexpr int kEach = 60;
  std::vector<pid_t> children;
  for (const char* options : {"{\"a\":1}", "{\"b\":1}", "{\"c\":1}"})
    children.push_back(in_child([&] { return write_attempts(path, kEach, options); }));
  for (pid_t child : children) EXPECT_EQ(exit_status(child), 0);
  auto store = open_store(path).value();
  const auto runs = store->runs().value();
  ASSERT_EQ(runs.size(), 3u);
  for (const RunRecord& run : runs) EXPECT_EQ(store->nodes(run.id).value().size(), static_cast<size_t>(kEach));
  expect_whole(path);
}

TEST(StoreFaults, ARunningRunBelongsToItsProcess) {
  TempDir dir;
  const Path path = dir.path() / "store.db";
  auto store = open_store(path).value();
  const RunRecord run = sample_run();
  const RunId id = store->begin_run(run).value();
  // Ours and alive: another process with the same command starts a run of its own.
  const pid_t other = in_child([&] {
    return open_store(path).value()->find_resumable(run.task_hash, sha256(run.options)).value().has_value() ? 1 : 0;
  });
  EXPECT_EQ(exit_status(other), 0);
  ASSERT_TRUE(store->finish_run(id, 1, std::nullopt).ok());
  const auto again = store->find_resumable(run.task_hash, sha256(run.options)).value();
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->id, id);
  EXPECT_FALSE(store->find_resumable(run.task_hash, sha256("{}")).value().has_value());
  ASSERT_TRUE(store->finish_run(id, 1, Conclusion{"faster", 1}).ok());
  EXPECT_FALSE(store->find_resumable(run.task_hash, sha256(run.options)).value().has_value());
}

TEST(StoreFaults, ARunWhoseProcessIsGoneWasInterrupted) {
  TempDir dir;
  const Path path = dir.path() / "store.db";
  const pid_t other = in_child([&] { return open_store(path).value()->begin_run(sample_run()).ok() ? 0 : 1; });
  ASSERT_EQ(exit_status(other), 0);
  const auto store = open_store(path, OpenFor::reading).value();
  EXPECT_EQ(store->runs().value().at(0).state, RunState::interrupted);
}

TEST(StoreFaults, AFullDiskIsAnErrorAndTheStoreStaysWhole) {
  TempDir dir;
  const Path path = dir.path() / "store.db";
  const pid_t child = in_child([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1 << 20, 1 << 20};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    auto store = open_store(path).value();
    const RunId run = store->begin_run(sample_run()).value();
    for (int i = 0; i < 1000; ++i) {
      NodeRecord node = sample_node(run, kNoNode, i, filler(i));
      node.action = "step " + std::to_string(i);
      node.certify = sample_verdict(1, Tier::certify);
      const auto added = store->add_node(node);
      if (added.ok()) continue;
      const std::string message = added.error().message();
      if (message.find("writing to the store") == std::string::npos) return 2;
      if (message.find("wanted a disk that takes writes") == std::string::npos) return 3;
      return store->nodes(run).value().size() == static_cast<size_t>(i) ? 0 : 4;
    }
    return 5;
  });
  EXPECT_EQ(exit_status(child), 0);
  expect_whole(path);
  EXPECT_GT(open_store(path).value()->nodes(1).value().size(), 5u);
  EXPECT_EQ(write_attempts(path, 100, "{\"more\":1}"), 0) << "with room again it goes on";
}

}  // namespace
}  // namespace mtmc
