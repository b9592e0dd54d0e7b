#include "workbench/plots.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace mtmc {
namespace {

using ::testing::HasSubstr;

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

Json row(double speedup, double seconds) {
  return {{"error", nullptr}, {"certified", true}, {"speedup", {{"eager", speedup}}}, {"seconds", seconds}};
}

TEST(Plots, ShowEachCertifiedTaskInItsGroup) {
  const TaskRows rows = {{"level1/1_a", row(4, 10)},
                         {"level1/2_b", row(0.5, 20)},
                         {"level1/3_c", {{"error", "it took too long"}}},
                         {"level2/1_d", row(2, 40)}};
  const std::string sorted = speedups_svg(rows), seconds = seconds_svg(rows);
  for (const std::string& svg : {sorted, seconds}) {
    EXPECT_THAT(svg, HasSubstr(">level1</text>"));
    EXPECT_THAT(svg, HasSubstr(">level2</text>"));
    EXPECT_THAT(svg, HasSubstr(">0.5×</text>"));
    EXPECT_THAT(svg, HasSubstr(">4×</text>"));
  }
  EXPECT_EQ(count(sorted, "stroke-width:2"), 2u) << "a line for each level";
  EXPECT_EQ(count(sorted, "L"), 1u) << "the slower of two comes first";
  EXPECT_EQ(count(seconds, "<circle"), 3u);
}

TEST(Plots, OfNothingAreEmptyPictures) {
  EXPECT_THAT(speedups_svg({}), HasSubstr("</svg>"));
  EXPECT_EQ(count(seconds_svg({}), "<circle"), 0u);
}

}  // namespace
}  // namespace mtmc
