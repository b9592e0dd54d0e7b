// Rows that are filled up, and on a GPU captured, against every action behind a copy of the prompt.
#include "lm/captured_scores.h"

#include <ATen/Parallel.h>
#include <ATen/ops/randn.h>
#include <c10/core/GradMode.h>

#include "lm/world.h"

namespace mtmc::lm {
namespace {

using at::Tensor;
using testing::data;
using testing::difference;

Model adapted(const std::string& name, const Placement& placement) {
  const at::AutoGradMode no_grad(false);
  Model model =
      name == "wide" ? testing::wide(placement) : Model::load(open_checkpoint(data(name)).value(), placement).value();
  Rng rng(4);
  EXPECT_TRUE(model.add_lora({3, 9, {"q_proj", "v_proj", "down_proj"}}, rng).ok());
  at::manual_seed(5);
  for (auto& [key, tensor] : model.adapter_parameters())
    if (key.find("lora_B") != std::string::npos) tensor.copy_(at::randn(tensor.sizes()) * 0.2);
  return model;
}

// A prompt of so many tokens, and actions of 1 to `longest`.
Prompt drawn(size_t tokens, size_t actions, size_t longest, Rng& rng) {
  const auto some = [&](size_t count) {
    std::vector<TokenId> all(count);
    for (TokenId& token : all) token = static_cast<TokenId>(rng.below(300));
    return all;
  };
  Prompt prompt{some(tokens), {}};
  for (size_t i = 0; i < actions; ++i)
    prompt.actions.push_back({some(1 + rng.below(longest)), static_cast<int64_t>(1 + i % 3), 0.1 * double(i), 0.5});
  return prompt;
}

// Sizes that come for the first time, that come back with less and with more in them, and with one-token actions only.
std::vector<Prompt> decisions() {
  Rng rng(6);
  std::vector<Prompt> all;
  for (const size_t tokens : {150, 131, 160, 141, 1, 64, 20}) all.push_back(drawn(tokens, 5 + tokens % 9, 7, rng));
  for (const size_t tokens : {64, 30, 2}) all.push_back(drawn(tokens, tokens % 31, 1, rng));
  all.push_back(drawn(130, 40, 7, rng));
  return all;
}

void expect_exact(CapturedScores& scores, const Model& model, double part) {
  const at::AutoGradMode no_grad(false);
  const ScoreMode modes[] = {ScoreMode::sum, ScoreMode::per_token, ScoreMode::per_word};
  size_t i = 0;
  for (const Prompt& prompt : decisions()) {
    const ScoreMode mode = modes[i++ % 3];
    const Tensor got = scores.score(model, prompt, mode), again = scores.score(model, prompt, mode);
    const Tensor wanted = score_replicated(model, prompt, mode);
    EXPECT_LT(difference(got, wanted), part) << prompt.tokens.size();
    EXPECT_LT(difference(again, wanted), part) << prompt.tokens.size();
  }
}

void expect_exact_whatever_the_weights(Model& model, double part) {
  CapturedScores scores;
  expect_exact(scores, model, part);
  const size_t sizes = scores.sizes();
  EXPECT_EQ(sizes, 4u);
  EXPECT_EQ(scores.captured(), model.placement().device.is_cuda() ? sizes : 0) << scores.wrong();
  EXPECT_EQ(scores.wrong(), "");
  {
    const at::AutoGradMode no_grad(false);
    model.base_parameters().at("model.layers.1.mlp.up_proj.weight").mul_(1.5);
  }
  const Prompt prompt = decisions()[0];
  EXPECT_LT(difference(scores.score(model, prompt, ScoreMode::sum), score_replicated(model, prompt, ScoreMode::sum)),
            part);
  EXPECT_EQ(scores.sizes(), 1u);
  model.merge_adapter();
  expect_exact(scores, model, part);
}

TEST(TorchScoring, FilledUpRowsAreExact) {
  at::set_num_threads(1);  // several would wait for each other longer than they compute
  for (const char* name : {"llama", "qwen", "wide"}) {
    Model model = adapted(name, {at::kCPU, at::kFloat});
    expect_exact_whatever_the_weights(model, 1e-5);
  }
}

TEST(GpuScoring, CapturedRowsAreExact) {
  if (const auto there = find_placement("cuda", "bf16"); !there.ok()) GTEST_SKIP() << there.error().message();
  for (const char* name : {"llama", "smollm", "wide"})  // heads of 4, 8 and 64 numbers
    for (const bool half : {false, true}) {
      Model model = adapted(name, find_placement("cuda", half ? "bf16" : "fp32").value());
      expect_exact_whatever_the_weights(model, half ? 0.03 : 1e-5);
    }
}

TEST(TorchScoring, RowsAreFilledUpByLittle) {
  Rng rng(7);
  for (size_t tokens = 1; tokens < 3000; tokens += 37) {
    const RowSizes sizes(drawn(tokens, 33, 1, rng));
    EXPECT_GE(sizes.prompt_tokens, static_cast<int64_t>(tokens + 8));
    EXPECT_LE(sizes.prompt_tokens, static_cast<int64_t>(std::max<size_t>(64, tokens + tokens / 4) + 8));
    EXPECT_EQ(sizes.action_tokens, 64 + 8);
    EXPECT_EQ(sizes.actions, 65);
  }
  EXPECT_EQ(RowSizes(drawn(2048, 32, 1, rng)), RowSizes(drawn(1800, 17, 1, rng)));
}

TEST(TorchScoring, LongRowsAreNotCaptured) {
  const Model model = testing::open("llama");
  Rng rng(8);
  EXPECT_TRUE(CapturedScores::takes(model, drawn(3000, 3, 4, rng)));
  EXPECT_FALSE(CapturedScores::takes(model, drawn(9000, 3, 4, rng)));
}

}  // namespace
}  // namespace mtmc::lm
