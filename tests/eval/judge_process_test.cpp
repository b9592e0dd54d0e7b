#include "eval/judge_process.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "support/source_dir.h"

namespace mtmc {
namespace {

// Answers {"op": "double", "n": 2} with {"n": 4}; anything else ends it.
JudgeProcess doubling() {
  const char* program =
      "import json, os\n"
      "replies = os.fdopen(4, 'w')\n"
      "for line in os.fdopen(3):\n"
      "    request = json.loads(line)\n"
      "    if request['op'] == 'fail':\n"
      "        reply = {'error': {'doing': 'doubling', 'wrong': 'no number'}}\n"
      "    elif request['op'] == 'double':\n"
      "        reply = {'n': 2 * request['n']}\n"
      "    else:\n"
      "        break\n"
      "    print(json.dumps(reply), file=replies, flush=True)\n";
  return JudgeProcess("doubler", {.argv = {"python3", "-c", program}, .directory = {}, .environment = {}});
}

Json twice(int n) { return {{"op", "double"}, {"n", n}}; }

TEST(JudgeProcess, RepliesComeInTheOrderOfTheRequests) {
  JudgeProcess process = doubling();
  ASSERT_TRUE(process.send(twice(1)).ok() && process.send(twice(2)).ok());
  EXPECT_EQ(process.waiting(), 2);
  EXPECT_EQ(process.receive(20)->at("n"), 2);
  EXPECT_EQ(process.receive(20)->at("n"), 4);
  EXPECT_EQ(process.ask(twice(4), 20)->at("n"), 8);
  EXPECT_EQ(process.waiting(), 0);
}

TEST(JudgeProcess, TheUsersMistakeIsNotTheEndOfIt) {
  JudgeProcess process = doubling();
  const auto refused = process.ask({{"op", "fail"}}, 20);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().doing, "doubling");
  EXPECT_FALSE(refused.error().ours);
  EXPECT_TRUE(process.running());
}

TEST(JudgeProcess, OneThatEndedIsStartedAgain) {
  JudgeProcess process = doubling();
  ASSERT_TRUE(process.send(twice(1)).ok() && process.send({{"op", "end"}}).ok());
  EXPECT_TRUE(process.receive(20).ok());
  EXPECT_FALSE(process.receive(20).ok());
  EXPECT_FALSE(process.running());
  EXPECT_EQ(process.waiting(), 0);
  EXPECT_EQ(process.ask(twice(3), 20)->at("n"), 6);
}

// An exception that it does not expect ends it, and the error says which: our own loop tells before it goes.
TEST(JudgeProcess, SaysWhatEndedIt) {
  const char* program =
      "from mtmc.wire.line import REPLIES, REQUESTS, Line, serve\n"
      "serve(Line(REQUESTS, REPLIES), lambda request: {'n': 1 // request['n']})\n";
  JudgeProcess process(
      "divider",
      {.argv = {"python3", "-c", program}, .directory = {}, .environment = {{"PYTHONPATH", source_dir() + "/python"}}});
  EXPECT_EQ(process.ask({{"op", "divide"}, {"n", 1}}, 20)->at("n"), 1);
  const auto ended = process.ask({{"op", "divide"}, {"n", 0}}, 20);
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().wrong, "it has ended");
  EXPECT_NE(ended.error().got.find("ZeroDivisionError: "), std::string::npos) << ended.error().message();
  EXPECT_TRUE(ended.error().ours);
  EXPECT_FALSE(process.running());
  EXPECT_EQ(process.ask({{"op", "divide"}, {"n", 1}}, 20)->at("n"), 1);
}

// The state of a process as /proc/PID/stat has it, soon.
bool comes_to(pid_t pid, const std::string& wanted) {
  const auto state = [&] {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string number, name, letter;
    stat >> number >> name >> letter;
    return letter;
  };
  for (int i = 0; i < 1000 && state() != wanted; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return state() == wanted;
}

TEST(JudgeProcess, StandsStillAndGoesOn) {
  JudgeProcess process = doubling();
  ASSERT_TRUE(process.ask(twice(1), 20).ok());
  process.pause();
  ASSERT_TRUE(process.send(twice(2)).ok());
  EXPECT_TRUE(comes_to(process.pid(), "T"));
  process.resume();
  EXPECT_EQ(process.receive(20)->at("n"), 4);
}

// As the one in which a baseline is: it leads a session of its own.
TEST(JudgeProcess, WhatItStartedBesideStandsStillToo) {
  const char* program =
      "import json, os, subprocess, sys\n"
      "replies, beside = os.fdopen(4, 'w'), None\n"
      "for line in os.fdopen(3):\n"
      "    beside = beside or subprocess.Popen(['cat'], stdin=subprocess.PIPE, start_new_session=True)\n"
      "    print(json.dumps({'session': beside.pid}), file=replies, flush=True)\n";
  JudgeProcess process("starter", {.argv = {"python3", "-c", program}, .directory = {}, .environment = {}});
  const auto beside = process.ask({{"op", "start"}}, 20);
  ASSERT_TRUE(beside.ok());
  const pid_t pid = beside->at("session");
  process.pause();
  EXPECT_TRUE(comes_to(pid, "T"));
  process.resume();
  EXPECT_TRUE(comes_to(pid, "S"));
}

}  // namespace
}  // namespace mtmc
