#include "base/progress.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/tempdir.h"

namespace mtmc {
namespace {

TEST(Progress, TheLiveLineFitsItsTerminal) {
  EXPECT_EQ(live_text(80, 0.5, 72, "best 1.82x", "judging tile"),
            "[##########----------]  50 %  best 1.82x  1:12 left  judging tile");
  EXPECT_EQ(live_text(80, 7, -1, "", ""), "[####################] 100 %");
  EXPECT_EQ(live_text(40, 0, 5, "best 1.82x", "judging fuse linear and gelu").size(), 39u);
}

std::string written(int width) {
  const TempDir folder;
  const auto path = folder.path() / "out";
  std::FILE* out = std::fopen(path.c_str(), "w");
  {
    Progress progress(out, width);
    progress.live(0.5, 1, "", "x");
    progress.line("step 1");
  }
  std::fclose(out);
  return *read_file(path);
}

TEST(Progress, OnlyATerminalSeesTheLiveLine) {
  EXPECT_EQ(written(0), "step 1\n");
  EXPECT_EQ(written(60), "\r\033[K[##########----------]  50 %  0:01 left  x\r\033[Kstep 1\n");
}

}  // namespace
}  // namespace mtmc
