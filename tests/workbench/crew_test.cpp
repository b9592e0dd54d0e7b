#include "workbench/crew.h"

#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/cores.h"
#include "base/tempdir.h"

namespace mtmc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// Members that speak the crew's language in a few words of bash.
Command member(const std::string& per_task, const std::string& first = "echo ready >&4") {
  return {.argv = {"bash", "-c", first + "; while read -r task next <&3; do " + per_task + "; done"}};
}

struct Heard {
  std::vector<std::string> begun = {};
  std::map<std::string, std::string> ended = {};
  size_t most = 100;

  CrewListener listener() {
    return {.begins =
                [this](const std::string& task) {
                  if (begun.size() == most) return false;
                  begun.push_back(task);
                  return true;
                },
            .ended =
                [this](const std::string& task, const Result<Json>& reply) {
                  ended[task] = reply.ok() ? reply->dump() : reply.error().message();
                }};
  }
};

TEST(Crew, EachTaskIsDoneOnceByWhoeverIsFree) {
  Heard heard;
  const Command one = member(R"(echo "{\"done\": \"$task\"}" >&4)");
  ASSERT_TRUE(work_off({one, one, one}, {"a", "b", "c", "d", "e"}, heard.listener()).ok());
  EXPECT_THAT(heard.begun, UnorderedElementsAre("a", "b", "c", "d", "e"));
  EXPECT_EQ(heard.ended.size(), 5u);
  EXPECT_EQ(heard.ended["d"], R"({"done":"d"})");
}

TEST(Crew, AMemberIsToldWhatIsKeptForIt) {
  Heard heard;
  const Command one = member(R"(echo "\"$next\"" >&4)");
  ASSERT_TRUE(work_off({one}, {"a", "b", "c"}, heard.listener()).ok());
  EXPECT_THAT(heard.ended, ElementsAre(Pair("a", "\"b\""), Pair("b", "\"c\""), Pair("c", "\"\"")));
}

TEST(Crew, WhatIsKeptForABusyMemberIsDoneByAFreeOne) {
  Heard heard;
  // Whoever has the first task, and keeps the third, waits for it to be done: a minute at most.
  const TempDir folder;
  const std::string done = (folder.path() / "done").string();
  const Command one =
      member("[ \"$task\" = c ] && touch " + done + "; if [ \"$task\" = a ]; then for i in {1..600}; do [ -e " + done +
             " ] && break; sleep .1; done; [ -e " + done + " ] || task=late; fi; echo \"\\\"$task\\\"\" >&4");
  ASSERT_TRUE(work_off({one, one}, {"a", "b", "c", "d", "e"}, heard.listener()).ok());
  EXPECT_EQ(heard.ended.size(), 5u);
  EXPECT_EQ(heard.ended["a"], "\"a\"");
}

TEST(Crew, AMemberThatDiesTakesOnlyItsTaskWithIt) {
  Heard heard;
  const Command one = member(R"([ "$task" = b ] && kill -9 $$; echo "\"$task\"" >&4)");
  ASSERT_TRUE(work_off({one}, {"a", "b", "c"}, heard.listener()).ok());
  EXPECT_EQ(heard.ended["a"], "\"a\"");
  EXPECT_EQ(heard.ended["b"], "optimising b: its member ended: got signal 9 (Killed), wanted an answer");
  EXPECT_EQ(heard.ended["c"], "\"c\"");
}

TEST(Crew, ATaskThatTakesTooLongIsEndedAndTheOthersAreDone) {
  Heard heard;
  const Command one = member(R"([ "$task" = b ] && sleep 600; echo "\"$task\"" >&4)");
  ASSERT_TRUE(work_off({one}, {"a", "b", "c"}, heard.listener(), 5).ok());
  EXPECT_EQ(heard.ended["a"], "\"a\"");
  EXPECT_EQ(heard.ended["b"], "optimising b: it took too long: got no end, wanted one within 5 s");
  EXPECT_EQ(heard.ended["c"], "\"c\"");
}

TEST(Crew, NoTaskBeginsOnceTheListenerSaysNo) {
  Heard heard{.most = 2};
  ASSERT_TRUE(work_off({member("echo 1 >&4")}, {"a", "b", "c", "d"}, heard.listener()).ok());
  EXPECT_THAT(heard.begun, ElementsAre("a", "b"));
  EXPECT_EQ(heard.ended.size(), 2u);
}

TEST(Crew, AMemberThatCannotBeginIsAnErrorAndTheOthersGoOn) {
  Heard heard;
  const Status status = work_off({member("echo 1 >&4"), member(":", "exit 2")}, {"a", "b", "c"}, heard.listener());
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message(), HasSubstr("starting a member: it is not ready: got closed"));
  EXPECT_EQ(heard.ended.size(), 3u);
}

TEST(Crew, MembersShareProcessorsAndGpus) {
  const auto all = member_commands({"mtmc", "bench"}, 2, {"4", "7"}, "folder");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].argv[0], "taskset");
  EXPECT_EQ(all[1].argv.back(), "bench");
  EXPECT_EQ(all[1].environment.at("CUDA_VISIBLE_DEVICES"), "7");
  EXPECT_EQ(all[0].argv[2] == all[1].argv[2], usable_cores().size() == 1);
  EXPECT_EQ(all[1].environment.at("TMPDIR"), "folder");
  EXPECT_EQ(all[1].environment.count("MTMC_TURN"), 0u);
}

TEST(Crew, MembersThatShareAGpuTakeTurns) {
  const auto all = member_commands({"mtmc", "collect"}, 3, {"4", "7"}, "folder");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[2].environment.at("CUDA_VISIBLE_DEVICES"), "4");
  EXPECT_EQ(all[2].environment.at("MTMC_TURN"), "folder/turn-0");
  EXPECT_EQ(all[0].environment.at("MTMC_TURN"), "folder/turn-0");
  EXPECT_EQ(all[1].environment.at("MTMC_TURN"), "folder/turn-1");
}

}  // namespace
}  // namespace mtmc
