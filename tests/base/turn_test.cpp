#include "base/turn.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

#include "base/tempdir.h"

namespace mtmc {
namespace {

TEST(Turn, IsHeldByOneAtATime) {
  const TempDir folder;
  const auto file = std::filesystem::path(folder.path()) / "turn";
  std::optional<Turn> mine;
  mine.emplace(file);
  std::atomic<bool> theirs = false;
  std::thread other([&] {
    const Turn turn(file);
    theirs = true;
  });
  for (int i = 0; i < 100; ++i) std::this_thread::yield();
  EXPECT_FALSE(theirs);
  mine.reset();
  other.join();
  EXPECT_TRUE(theirs);
}

TEST(Turn, WithoutAFileNobodyWaits) { const Turn one(""), another(""); }

}  // namespace
}  // namespace mtmc
