#include "eval/own_thread.h"

#include <gtest/gtest.h>

#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace mtmc {
namespace {

// What was asked of a judge, in its order, and in which threads.
struct Log {
  std::promise<void> may_open;
  std::shared_future<void> opens = may_open.get_future().share();
  std::vector<std::string> asked;
  std::vector<std::thread::id> threads;
  void note(const std::string& what) { asked.push_back(what), threads.push_back(std::this_thread::get_id()); }
};

class SlowJudge final : public Judge {
 public:
  explicit SlowJudge(Log& log) : log_(log) {}
  ~SlowJudge() override { log_.note("ends"); }
  Status prepare(const Task& task) override {
    log_.opens.wait();
    log_.note("opens " + task.name);
    if (task.name == "bug") throw std::logic_error("a bug of ours");
    return task.name == "broken" ? Status(Error{"opening broken", "", "", ""}) : ok_status();
  }
  bool get_ahead() override {
    log_.note("gets ahead");
    return false;
  }
  Result<Verdict> judge(const Task& task, const Candidate&, Tier) override {
    log_.note("judges " + task.name);
    return Error{"judging " + task.name, "", "", ""};
  }

 private:
  Log& log_;
};

TEST(OwnThread, a_task_is_opened_while_its_caller_goes_on_and_all_is_done_in_one_thread) {
  Log log;
  std::unique_ptr<Judge> judge = in_own_thread(std::make_unique<SlowJudge>(log));
  ASSERT_TRUE(judge->prepare({"a", ""}).ok());
  EXPECT_TRUE(log.asked.empty()) << "it has not waited";
  EXPECT_TRUE(judge->get_ahead()) << "something is left";
  EXPECT_TRUE(log.asked.empty());
  log.may_open.set_value();
  EXPECT_EQ(judge->judge({"a", ""}, {"", nullptr}, Tier::screen).error().doing, "judging a");
  EXPECT_FALSE(judge->get_ahead());
  judge.reset();
  EXPECT_EQ(log.asked, (std::vector<std::string>{"opens a", "judges a", "gets ahead", "ends"}));
  for (const std::thread::id& id : log.threads) {
    EXPECT_EQ(id, log.threads.front());
    EXPECT_NE(id, std::this_thread::get_id());
  }
}

TEST(OwnThread, what_goes_wrong_in_opening_a_task_is_told_to_whoever_asks_about_it_and_to_nobody_else) {
  Log log;
  log.may_open.set_value();
  const std::unique_ptr<Judge> judge = in_own_thread(std::make_unique<SlowJudge>(log));
  const Task bug{"bug", "1"}, broken{"broken", "2"}, good{"good", "3"};
  const auto doing = [&](const Task& task) { return judge->judge(task, {"", nullptr}, Tier::screen).error().doing; };
  ASSERT_TRUE(judge->prepare(bug).ok());
  EXPECT_THROW((void)doing(bug), std::logic_error);
  EXPECT_EQ(doing(bug), "judging bug") << "told once";
  ASSERT_TRUE(judge->prepare(bug).ok());
  judge->expect(&good);
  ASSERT_TRUE(judge->prepare(broken).ok());
  EXPECT_EQ(judge->prepare(broken, {"", nullptr}).error().doing, "opening broken");
  ASSERT_TRUE(judge->prepare(broken).ok());
  EXPECT_EQ(doing(good), "judging good");
}

}  // namespace
}  // namespace mtmc
