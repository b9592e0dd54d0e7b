// What actions do on the triton target: how products begin, `precision`, `split` and `capture`; and that whatever is
// offered prints other code.
#include <gtest/gtest.h>

#include <filesystem>

#include "actions/action.h"
#include "actions/other_code.h"
#include "actions/programs.h"
#include "base/check.h"
#include "base/rng.h"
#include "base/text.h"
#include "support/source_dir.h"
#include "targets/cost.h"

namespace mtmc {
namespace {

constexpr const char* kMixed = R"(program mixed {
  %0 = input "x" : f32[8,16,32,32]
  %1 = input "w" : f32[16,16,3,3]
  %2 = input "v" : f32[32,32]
  %3 = conv2d(%0, %1, none, padding=[1,1]) : f32[8,16,32,32]
  %4 = relu(%3) : f32[8,16,32,32]
  %5 = linear(%4, %2, none) : f32[8,16,32,32]
  return %5
}
kernel k0 = { %3 } library
kernel k1 = { %4 } library
kernel k2 = { %5 } library
)";

struct World {
  Program program = parse_program(kMixed).value();
  Hardware hardware = h200_hardware();
  ActionContext context{hardware, *find_target("triton")};

  Program after(const std::string& action) const {
    auto next = apply_action(program, parse_action(action).value(), context);
    MTMC_CHECK(next.ok(), next.error().message());
    return std::move(*next);
  }
  std::string refusal(const std::string& action) const {
    const auto next = apply_action(program, parse_action(action).value(), context);
    return next.ok() ? "" : next.error().message();
  }
};

TEST(TritonActions, ProductsBeginAboutAsExactAsWhatTheyReplace) {
  const World world;
  EXPECT_EQ(world.after("lower %3").kernel("k0")->choices.at("precision"), "half");
  EXPECT_EQ(world.after("lower %5").kernel("k2")->choices.at("precision"), "two_part");
  EXPECT_EQ(world.after("fuse %3 %4 %5").kernels[0].choices.at("precision"), "as_eager");
}

TEST(TritonActions, ProductsThatComeTogetherStayAsExactAsEagerEach) {
  const auto merged = [](const std::vector<std::string>& actions) {
    World world;
    for (const std::string& action : actions) world.program = world.after(action);
    return world.program.kernels[0].choices.at("precision");
  };
  EXPECT_EQ(merged({"lower %3", "lower %5", "fuse %3 %4 %5"}), "as_eager");
  EXPECT_EQ(merged({"lower %3", "fuse %3 %4 %5"}), "as_eager");
  EXPECT_EQ(merged({"lower %5", "precision:ieee %5", "fuse %3 %4 %5"}), "ieee") << "somebody wanted it so";
  EXPECT_EQ(merged({"lower %3", "precision:two_part %3", "fuse %3 %4"}), "two_part");
  EXPECT_EQ(merged({"lower %3", "precision:two_part %3", "fuse %3 %4 %5"}), "two_part") << "half was refused before";
}

// A classifier behind a convolution: reading its weights is all the work, and few programs read slowly.
TEST(TritonActions, ProductsOfFewRowsBesideOthersAreBornSplit) {
  const auto fused = [](const std::string& rows) {
    const std::string text = R"(program classifier {
  %0 = input "x" : f32[ROWS,64,8,8]
  %1 = param "w" : f32[64,64,3,3]
  %2 = param "v" : f32[512,4096]
  %3 = conv2d(%0, %1, none, padding=[1,1]) : f32[ROWS,64,8,8]
  %4 = reshape(%3, shape=[ROWS,4096]) : f32[ROWS,4096]
  %5 = linear(%4, %2, none) : f32[ROWS,512]
  return %5
}
kernel k0 = { %3 } library
kernel k1 = { %4 } library
kernel k2 = { %5 } library
)";
    World world;
    world.program = parse_program(replace_all(text, "ROWS", rows)).value();
    return world.after("fuse %3 %5").kernels[0];
  };
  EXPECT_EQ(fused("24").choices.at("precision"), "as_eager");
  EXPECT_TRUE(fused("24").has("split"));
  EXPECT_FALSE(fused("64").has("split")) << "its weights are packed";
}

// A product of few results is a sum like any other, also where it needs several programs a result.
TEST(TritonActions, LongSumsOfFewProductsAreBornSplit) {
  const auto lowered = [](const std::string& columns) {
    World world;
    world.program = parse_program(replace_all(R"(program long {
  %0 = input "x" : f32[8,COLUMNS]
  %1 = param "w" : f32[8,COLUMNS]
  %2 = linear(%0, %1, none) : f32[8,8]
  return %2
}
kernel k0 = { %2 } library
)",
                                              "COLUMNS", columns))
                        .value();
    return world.after("lower %2").kernels[0];
  };
  EXPECT_TRUE(lowered("65536").has("split"));
  EXPECT_FALSE(lowered("512").has("split"));
  EXPECT_TRUE(lowered("512").choices.count("precision") == 0) << "all ways to multiply would print the same";
}

TEST(TritonActions, ASmallProductBesideALargeOneDoesNotKeepThatWhole) {
  World world;
  world.program = parse_program(R"(program layers {
  %0 = input "x" : f32[8,8192]
  %1 = param "w" : f32[4096,8192]
  %2 = param "v" : f32[64,4096]
  %3 = linear(%0, %1, none) : f32[8,4096]
  %4 = linear(%3, %2, none) : f32[8,64]
  return %4
}
kernel k0 = { %3 } library
kernel k1 = { %4 } library
)")
                      .value();
  EXPECT_TRUE(world.after("fuse %3 %4").kernels[0].has("split"));
}

TEST(TritonActions, WhatEagerConvolvesInF32BeginsAsExact) {
  World world;
  world.program = parse_program(replace_all(kMixed, "padding=[1,1])", "full_f32=true, padding=[1,1])")).value();
  EXPECT_EQ(world.after("lower %3").kernel("k0")->choices.at("precision"), "two_part");
  EXPECT_NE(world.refusal("precision:half %3"), "") << "would err more than eager";
}

TEST(TritonActions, KernelsThatAreAlikeBeginAlike) {
  const World world;
  World again;
  again.program = parse_program(replace_all(kMixed, "program mixed", "program another")).value();
  EXPECT_EQ(world.after("fuse %3 %4").kernels[0], again.after("fuse %3 %4").kernels[0]);
  // Of another type it is not; that others need a value of it changes nothing about how it begins.
  again.program = parse_program(replace_all(kMixed, "f32", "f16")).value();
  EXPECT_EQ(again.after("lower %3").kernels[0].choices.count("precision"), 0u);
  again.program = parse_program(replace_all(kMixed, "return %5", "return %3, %5")).value();
  EXPECT_EQ(again.after("fuse %3 %4").kernels[0].choices, world.after("fuse %3 %4").kernels[0].choices);
}

TEST(TritonActions, WindowsAreReorderedWhereChannelsDoNotFillBlocks) {
  constexpr const char* kConv = R"(program conv {
  %0 = input "x" : f32[8,48,32,32]
  %1 = input "w" : f32[64,48,3,3]
  %2 = conv2d(%0, %1, none, padding=[1,1]) : f32[8,64,32,32]
  return %2
}
kernel k0 = { %2 } library
)";
  World world;
  EXPECT_NE(world.refusal("reorder:im2win %3"), "") << "a library call";
  world.program = parse_program(kConv).value();
  world.program = world.after("lower %2");
  EXPECT_EQ(world.after("reorder:im2win %2").kernels[0].choices.count("window"), 1U);
  EXPECT_NE(world.refusal("reorder:reversed %2").find("same code"), std::string::npos);
  world.program = world.after("reorder:im2win %2");
  EXPECT_NE(world.refusal("reorder:im2win %2").find("joined already"), std::string::npos);
  std::string whole = kConv;  // 64 channels fill their block
  for (size_t at; (at = whole.find(",48,")) != std::string::npos;) whole.replace(at, 4, ",64,");
  world.program = parse_program(whole).value();
  world.program = world.after("lower %2");
  EXPECT_NE(world.refusal("reorder:im2win %2").find("same code"), std::string::npos);
}

TEST(TritonActions, PrecisionIsAWordOfTheTarget) {
  World world;
  world.program = world.after("lower %5");
  EXPECT_EQ(world.after("precision:ieee %5").kernel("k2")->choices.at("precision"), "ieee");
  EXPECT_NE(world.refusal("precision:half %5").find("not a way to multiply"), std::string::npos);
  EXPECT_NE(world.refusal("precision:two_part %5").find("in this way already"), std::string::npos);
}

TEST(TritonActions, PrecisionOfProductsThatAreAlikeIsOneAction) {
  World world;
  world.program = parse_program(R"(program two {
  %0 = input "x" : f32[64,64]
  %1 = input "w" : f32[64,64]
  %2 = input "v" : f32[64,64]
  %3 = linear(%0, %1, none) : f32[64,64]
  %4 = linear(%3, %2, none) : f32[64,64]
  return %4
}
kernel k0 = { %3 } library
kernel k1 = { %4 } library
)")
                      .value();
  world.program = world.after("lower %3 | %4");
  std::vector<std::string> offered;
  for (const Action& action : enumerate_actions(world.program, world.context))
    if (action.type == "precision") offered.push_back(store_text(action));
  EXPECT_EQ(offered, (std::vector<std::string>{"precision:ieee %3", "precision:ieee %4", "precision:ieee %3 | %4"}));
  const Program after = world.after("precision:ieee %3 | %4");
  for (const Kernel& kernel : after.kernels) EXPECT_EQ(kernel.choices.at("precision"), "ieee");
  EXPECT_NE(world.refusal("precision:two_part %3 | %4").find("in this way already"), std::string::npos);
}

TEST(TritonActions, CaptureTakesTheWholeCallWithItsLibraryCalls) {
  World world;
  world.program = world.after("capture %3 %4 %5");
  ASSERT_EQ(world.program.captures.size(), 1u);
  EXPECT_EQ(world.program.captures[0].size(), world.program.kernels.size());
  EXPECT_NE(world.refusal("capture %3 %4 %5").find("captured already"), std::string::npos);
  for (const char* action : {"fuse %3 %4", "lower %5", "library %3 %4"}) {  // one after the other
    world.program = world.after(action);
    std::vector<std::string> all;
    for (const Kernel& kernel : world.program.kernels) all.push_back(kernel.name);
    EXPECT_THAT(world.program.captures, ::testing::ElementsAre(all)) << action;
  }
}

constexpr const char* kDeep = R"(program deep {
  %0 = input "x" : f32[64,8192]
  %1 = input "w" : f32[96,8192]
  %2 = input "y" : f32[8192,8192]
  %3 = linear(%0, %1, none) : f32[64,96]
  %4 = relu(%3) : f32[64,96]
  %5 = matmul(%0, %2) : f32[64,8192]
  %6 = matmul(%2, %2) : f32[8192,8192]
  %7 = softmax(%5, dim=-1) : f32[64,8192]
  return %4, %6, %7
}
kernel k0 = { %3 } library
kernel k1 = { %4 } library
kernel k2 = { %5 } library
kernel k3 = { %6 } library
kernel k4 = { %7 } library
)";

// Few tiles and a long K: chunks of K, where it pays and where it was not done before.
TEST(TritonActions, SplitIsForContractionsOfFewTiles) {
  World world;
  world.program = parse_program(kDeep).value();
  EXPECT_TRUE(world.after("fuse %3 %4").kernel("k0")->has("split")) << "one tile, 64 chunks: born so";
  world.program = parse_program(replace_all(kDeep, "96", "4480")).value();
  world.program = world.after("fuse %3 %4");
  const auto seconds = [&] {
    return world.context.target.cost(world.program, *world.program.kernel("k0"), world.hardware).seconds;
  };
  const double before = seconds();
  world.program = world.after("split %3 %4");
  EXPECT_LT(seconds(), before);
  EXPECT_NE(world.refusal("split %3 %4").find("split already"), std::string::npos);
  world.program = world.after("lower %5");
  EXPECT_EQ(world.refusal("split %5"), "");
  world.program = world.after("lower %6");
  EXPECT_NE(world.refusal("split %6").find("the same code"), std::string::npos);
}

// 30 tiles in chunks of K, 8 each, are two programs for each multiprocessor of an H100, and more for each of an A100's.
TEST(TritonActions, KernelsAreBornForTheirGpu) {
  World world;
  world.program = parse_program(
                      "program deep {\n  %0 = input \"x\" : f32[640,4096]\n  %1 = input \"w\" : f32[768,4096]\n"
                      "  %2 = linear(%0, %1, none) : f32[640,768]\n  return %2\n}\nkernel k0 = { %2 } library\n")
                      .value();
  for (const bool once_more : {false, true}) {
    world.hardware = hardware_profile("h100").value();
    EXPECT_TRUE(world.after("lower %2").kernels[0].has("split")) << once_more;
    world.hardware = hardware_profile("a100").value();
    EXPECT_FALSE(world.after("lower %2").kernels[0].has("split")) << once_more;
  }
}

// A kernel begins with one guess; what is measured is asked for, and ends when the kernel becomes another.
TEST(TritonActions, TilesAndPipelinesHaveNumbersMeasured) {
  World world;
  world.program = parse_program(kDeep).value();
  world.program = world.after("lower %6");
  const auto numbers = [&](const Program& program) {
    return world.context.target.candidates(program, *program.kernel("k3"), world.hardware);
  };
  const auto guess = numbers(world.program);
  ASSERT_EQ(guess.size(), 1u);
  const auto tiles = numbers(world.after("tile %6")), depths = numbers(world.after("pipeline %6"));
  EXPECT_EQ(tiles.front(), guess.front());
  EXPECT_GT(tiles.size(), 3u);
  ASSERT_GT(depths.size(), 2u);
  for (Numbers one : depths) {
    one["stages"] = guess.front().at("stages");
    EXPECT_EQ(one, guess.front()) << "nothing but the depth";
  }
  world.program = world.after("tile %6");
  const_cast<Kernel*>(world.program.kernel("k3"))->numbers = tiles[2];
  EXPECT_EQ(numbers(world.after("pipeline %6")).front(), tiles[2]) << "on top of what was measured";
  EXPECT_NE(world.refusal("tile %6").find("tiled already"), std::string::npos);
  const Program other = world.after("precision:ieee %6");
  EXPECT_FALSE(other.kernel("k3")->has("tiled")) << "another kernel";
  EXPECT_TRUE(other.kernel("k3")->numbers.empty());
  const Program fused = world.after("fuse %5 %7");
  EXPECT_TRUE(fused.kernel("k3")->has("tiled")) << "untouched";
}

TEST(TritonActions, LoopsOverRowsArePipelinedWhereTheyLoop) {
  const auto softmax = [](const char* columns) {
    World world;
    world.program = parse_program(replace_all(R"(program softmax {
  %0 = input "x" : f32[4096,COLUMNS]
  %1 = softmax(%0, dim=-1) : f32[4096,COLUMNS]
  return %1
}
kernel k0 = { %1 } library
)",
                                              "COLUMNS", columns))
                        .value();
    world.program = world.after("lower %1");
    return world;
  };
  EXPECT_NE(softmax("1024").refusal("pipeline %1").find("same code"), std::string::npos) << "rows stay in registers";
  World wide = softmax("393216");
  wide.program = wide.after("pipeline %1");
  Kernel& kernel = wide.program.kernels[0];
  kernel.numbers = wide.context.target.candidates(wide.program, kernel, wide.hardware)[1];
  EXPECT_NE(code_of(wide.program, wide.context).find("num_stages=" + std::to_string(kernel.number("stages", 0)) + "):"),
            std::string::npos);
}

TEST(TritonActions, ProgramsWalkColumnsOfTilesWhereThereAreBoth) {
  World world;
  world.program = parse_program(kDeep).value();
  world.program = world.after("lower %6");
  const std::string before = code_of(world.program, world.context);
  world.program = world.after("reorder:reversed %6");
  const std::string after = code_of(world.program, world.context);
  EXPECT_NE(before.find("tile_m = first + "), std::string::npos) << before;
  EXPECT_NE(after.find("tile_n = first + "), std::string::npos) << after;
  world.program = world.after("lower %5");  // 64 rows are one tile
  EXPECT_NE(world.refusal("reorder:reversed %5").find("same code"), std::string::npos);
}

TEST(TritonActions, WhatIsOfferedPrintsOtherCode) {
  std::vector<Program> starts = {parse_program(kMixed).value(), parse_program(kDeep).value()};
  const auto folder = std::filesystem::path(source_dir()) / "tests/frontend/golden";
  for (const auto& file : std::filesystem::directory_iterator(folder))
    for (Program& program : programs_in("frontend/golden/" + file.path().filename().string()))
      starts.push_back(std::move(program));
  const World world;
  for (Program& program : starts) {
    Rng rng(program.nodes.size());
    for (int step = 0; step < 2; ++step) {
      const auto actions = enumerate_actions(program, world.context);
      const std::string before = code_of(program, world.context);
      for (const Action& action : actions) {
        if (action.type == "stop") continue;
        EXPECT_TRUE(can_print_other_code(before, *apply_action(program, action, world.context), world.context))
            << store_text(action) << "\n"
            << print(program);
      }
      program = *apply_action(program, actions[rng.below(actions.size())], world.context);
    }
  }
}

}  // namespace
}  // namespace mtmc
