#include "base/turn.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "base/process.h"
#include "base/tempdir.h"

namespace mtmc {
namespace {

using With = Turn::With;

class TurnTest : public testing::Test {
 protected:
  // Somebody who wants a turn, has it, and gives it back when told to.
  struct Somebody {
    Somebody(const std::filesystem::path& file, With with)
        : thread([this, file, with] {
            const Turn turn(file, with);
            has_it = true;
            while (!may_leave) std::this_thread::yield();
          }) {}
    ~Somebody() {
      may_leave = true;
      thread.join();
    }
    void comes() const {
      while (!has_it) std::this_thread::yield();
    }
    std::atomic<bool> has_it = false, may_leave = false;
    std::thread thread;
  };
  static void others_run() { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }

  const TempDir folder_;
  const std::filesystem::path file_ = std::filesystem::path(folder_.path()) / "turn";
};

TEST_F(TurnTest, WhoIsAloneKeepsAllOthersWaiting) {
  std::optional<Turn> mine(std::in_place, file_, With::nobody);
  Somebody timing(file_, With::nobody), working(file_, With::others);
  others_run();
  EXPECT_FALSE(timing.has_it || working.has_it);
  mine.reset();
  timing.may_leave = working.may_leave = true;  // whichever of them came first
  timing.comes(), working.comes();
}

TEST_F(TurnTest, ThoseWhoShareOneWaitForNobodyElseThanWhoWantsToBeAlone) {
  std::optional<Turn> mine(std::in_place, file_, With::others);
  Somebody working(file_, With::others);
  working.comes();
  Somebody timing(file_, With::nobody);
  others_run();
  Somebody later(file_, With::others);
  others_run();
  EXPECT_FALSE(timing.has_it);
  EXPECT_FALSE(later.has_it) << "else whoever wants to be alone waits for ever";
  mine.reset(), working.may_leave = true;
  timing.comes();
  EXPECT_FALSE(later.has_it);
  timing.may_leave = true;
  later.comes();
}

TEST_F(TurnTest, WithinATurnAnotherIsNothing) {
  std::optional<Turn> mine(std::in_place, file_, With::nobody);
  { const Turn within(file_, With::others); }
  Somebody working(file_, With::others);
  others_run();
  EXPECT_FALSE(working.has_it) << "the end of the inner one ends nothing";
  mine.reset();
  working.comes();
}

TEST_F(TurnTest, WithinATurnOneOfAnotherFileIsATurnOfItsOwn) {
  const std::filesystem::path other = file_.string() + "-memory";
  std::optional<Turn> memory(std::in_place, other, With::others), mine(std::in_place, file_, With::nobody);
  Somebody large(other, With::nobody), working(file_, With::others);
  others_run();
  EXPECT_FALSE(working.has_it || large.has_it);
  mine.reset();
  working.comes();
  EXPECT_FALSE(large.has_it) << "the other file is still ours";
  memory.reset();
  large.comes();
}

TEST_F(TurnTest, WithoutAFileNobodyWaits) {
  const Turn one("", With::nobody), another("", With::nobody);
  EXPECT_FALSE(is_with_others(""));
}

TEST_F(TurnTest, AThreadKnowsWhetherItIsThereWithOthers) {
  EXPECT_FALSE(is_with_others(file_));
  {
    const Turn mine(file_, With::others);
    EXPECT_TRUE(is_with_others(file_));
  }
  const Turn mine(file_, With::nobody);
  EXPECT_FALSE(is_with_others(file_));
}

TEST_F(TurnTest, WaitingIsNoWork) {
  const double worked = working_seconds(), begun = now_seconds();
  {
    std::optional<Somebody> timing(std::in_place, file_, With::nobody);
    timing->comes();
    std::thread ending([&] { others_run(), timing->may_leave = true; });
    { const Turn mine(file_, With::others); }
    ending.join();
  }
  const double waited = (now_seconds() - begun) - (working_seconds() - worked);
  EXPECT_GE(waited, 0.02);  // of the 0.05 that the other keeps its turn
  const double before = working_seconds();
  waited_for(100);
  EXPECT_LT(working_seconds(), before);
}

}  // namespace
}  // namespace mtmc
