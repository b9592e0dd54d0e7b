#include "base/progress.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/tempdir.h"

namespace mtmc {
namespace {

TEST(Progress, TheLiveLineFitsItsTerminal) {
  EXPECT_EQ(live_text(80, 0.5, 72, "best 1.82x", "judging tile", 0),
            "[##########----------]  50 %  best 1.82x  1:12 left  judging tile");
  EXPECT_EQ(live_text(80, 7, -1, "", "", 0), "[####################] 100 %");
  EXPECT_EQ(live_text(40, 0, 5, "best 1.82x", "judging fuse linear and gelu", 0).size(), 39u);
}

TEST(Progress, TheLiveLineSaysWhatTakesLong) {
  EXPECT_EQ(live_text(81, 1, 0, "best 1.82x", "certifying: timing beside eager", 42.9),
            "[####################] 100 %  best 1.82x  certifying: timing beside eager (42 s)");
  EXPECT_EQ(live_text(80, -1, -1, "", "tracing net", 1.9), "tracing net") << "nothing is known of how far it is";
  EXPECT_EQ(live_text(20, -1, -1, "", "certifying: timing beside eager", 7), "certifying: t (7 s)");
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
