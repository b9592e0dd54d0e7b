#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/kernel_headers.h"
#include "base/process.h"
#include "base/source_text.h"
#include "base/tempdir.h"
#include "base/text.h"
#include "base/trace.h"
#include "base/variables.h"

namespace mtmc {
namespace {

TEST(Hash, MatchesThePublishedVectors) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Text, DoublesReadBack) {
  EXPECT_EQ(format_double(1), "1.0");
  EXPECT_EQ(format_double(0.1), "0.1");
  EXPECT_EQ(format_double(1e300), "1e+300");
}

TEST(SourceText, IsUtf8WhateverTheFileIs) {
  const TempDir folder;
  const auto file = folder.path() / "a.py";
  for (const auto& [written, read] :
       {std::pair("# caf\xc3\xa9\n", "# caf\xc3\xa9\n"), std::pair("# caf\xe9 \xa0\n", "# caf\xc3\xa9 \xc2\xa0\n")}) {
    ASSERT_TRUE(write_file(file, written).ok());
    EXPECT_EQ(*read_source(file), read);
  }
}

TEST(Text, PlacesAreFilled) {
  const std::vector<std::string> args = {"x", "mask"};
  EXPECT_EQ(with_places("f({0}, [{1}, {0}])", args), "f(x, [mask, x])");
  EXPECT_EQ(with_places("f('{}', {'a': {1}}, '{x}', '{', {0", args), "f('{}', {'a': mask}, '{x}', '{', {0");
}

TEST(Text, WriteFileReplacesWhole) {
  TempDir folder;
  const auto path = folder.path() / "a.txt";
  ASSERT_TRUE(write_file(path, "one").ok());
  ASSERT_TRUE(write_file(path, "two").ok());
  EXPECT_EQ(*read_file(path), "two");
  EXPECT_FALSE(write_file(folder.path() / "no" / "a.txt", "x").ok());
}

TEST(Process, CollectsOutputAndExitCode) {
  auto done = run({{"sh", "-c", "echo out; echo err >&2; exit 3"}, {}, {}, 10});
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->exit_code, 3);
  EXPECT_EQ(done->out, "out\n");
  EXPECT_EQ(done->err, "err\n");
}

TEST(Process, KillsTheWholeGroupAtTheLimit) {
  auto done = run({{"sh", "-c", "sleep 100 & sleep 100"}, {}, {}, 0.3});
  ASSERT_TRUE(done.ok());
  EXPECT_TRUE(done->timed_out);
  EXPECT_LT(done->seconds, 5);
}

TEST(Process, SaysWhatCannotBeStarted) {
  auto done = run({{"/no/such/program"}, {}, {}, 1});
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().message(), "starting /no/such/program: No such file or directory");
}

// In a process of its own: exit code 0 when `body` says so.
int exit_code_of(const std::function<bool()>& body) {
  const pid_t pid = fork();
  if (pid == 0) _exit(body() ? 0 : 1);
  int status = 0;
  waitpid(pid, &status, 0);
  return status;
}

TEST(TempDir, IsRemovedThoughItsFilesWriterHasTakenOurRights) {
  EXPECT_EQ(exit_code_of([] {
              if (geteuid() == 0 && setuid(65534) != 0) return false;  // nobody may take root's rights
              std::filesystem::path path;
              {
                const TempDir folder;
                path = folder.path();
                std::filesystem::create_directories(path / "a/b/c");
                std::filesystem::create_directory_symlink("/", path / "a/link");
                for (const char* taken : {"a/b", "a"})
                  std::filesystem::permissions(path / taken, std::filesystem::perms::none);
              }
              return !std::filesystem::exists(path);
            }),
            0);
}

TEST(LineProcess, DiesWithWhoStartedIt) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  exit_code_of([&] {
    const auto child = LineProcess::start({{"sleep", "1000"}, {}, {}, 10});
    const pid_t pid = child.ok() ? child->pid() : -1;
    return write(pipe_ends[1], &pid, sizeof pid) == sizeof pid && ::kill(getpid(), SIGKILL) == 0;
  });
  pid_t pid = -1;
  ASSERT_EQ(read(pipe_ends[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  ASSERT_GT(pid, 0);
  const auto runs = [&] {
    const auto stat = read_file("/proc/" + std::to_string(pid) + "/stat");
    return stat.ok() && !stat->empty() && stat->find(") Z ") == stat->npos;
  };
  for (int i = 0; i < 1000 && runs(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(runs());
}

TEST(LineProcess, TalksOnPrivatePipes) {
  auto child =
      LineProcess::start({{"sh", "-c", "echo noise; while read line <&3; do echo \"<$line>\" >&4; done"}, {}, {}, 0});
  ASSERT_TRUE(child.ok());
  ASSERT_TRUE(child->send("hello").ok());
  EXPECT_EQ(*child->receive(5), "<hello>");
  EXPECT_EQ(child->receive(0.05).error().wrong, "timed out");
  EXPECT_TRUE(child->alive());
  child->kill();
  EXPECT_FALSE(child->alive());
}

TEST(LineProcess, ADeadChildIsNoticedThoughItsChildrenHoldThePipe) {
  auto child = LineProcess::start({{"sh", "-c", "sleep 60 & exit 1"}, {}, {}, 0});
  ASSERT_TRUE(child.ok());
  const double started = now_seconds();
  EXPECT_EQ(child->receive(30).error().wrong, "closed");
  EXPECT_LT(now_seconds() - started, 10);
  EXPECT_EQ(child->ending(), "exit code 1");
}

TEST(CompileKernelHeaders, are_used_by_the_compiler_and_change_nothing) {
  const std::filesystem::path folder = kernel_headers();
  if (folder.empty()) GTEST_SKIP() << "the compiler here cannot precompile headers";
  const TempDir scratch;
  ASSERT_TRUE(write_file(scratch.path() / "k.cpp",
                         "#include <algorithm>\n#include <cmath>\n"
                         "float f(float x) { return std::max(std::sqrt(x), 1.0f); }\n")
                  .ok());
  const char* compiler = std::getenv("CXX");
  std::vector<std::string> words = {compiler != nullptr ? compiler : "g++"};
  for (const Json& flag : Json::parse(kKernelFlags)) words.push_back(flag);
  words.insert(words.end(), {"-H", "-c", "k.cpp", "-o", "with.o"});
  const auto with = run({words, scratch.path(), {{"CPATH", kernel_include_path()}}, 60});
  ASSERT_TRUE(with.ok() && with->exit_code == 0);
  EXPECT_NE(with->err.find("! " + (folder / "algorithm.gch").string()), std::string::npos) << with->err;
  words.back() = "without.o";
  const auto without = run({words, scratch.path(), {{"CPATH", ""}}, 60});
  ASSERT_TRUE(without.ok() && without->exit_code == 0);
  EXPECT_EQ(*read_file(scratch.path() / "with.o"), *read_file(scratch.path() / "without.o"));
}

TEST(Variables, ThatAreEmptyAreNotSet) {
  setenv("MTMC_TEST", "word", 1);
  EXPECT_EQ(variable("MTMC_TEST", "other"), "word");
  setenv("MTMC_TEST", "", 1);
  EXPECT_EQ(variable("MTMC_TEST", "other"), "other");
  unsetenv("MTMC_TEST");
  EXPECT_EQ(variable("MTMC_TEST"), "");
}

TEST(Trace, SaysWhatWasWaitedForWhenItIsWanted) {
  const auto said = [] {
    ::testing::internal::CaptureStderr();
    { const Span span("the tuner"); }
    trace_note("a note");
    return ::testing::internal::GetCapturedStderr();
  };
  unsetenv("MTMC_TRACE");
  EXPECT_EQ(said(), "");
  setenv("MTMC_TRACE", "1", 1);
  EXPECT_THAT(said(),
              ::testing::MatchesRegex("trace [0-9]+ +[0-9.]+ +0.0[0-9]+ the tuner\ntrace [0-9]+ +[0-9.]+ +a note\n"));
  unsetenv("MTMC_TRACE");
}

}  // namespace
}  // namespace mtmc
