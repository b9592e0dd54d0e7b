// Against transformers and autograd in Python (make_models.py), and the shared prompt against its copies.
#include "lm/model.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <c10/core/GradMode.h>

#include <filesystem>
#include <numeric>

#include "base/tempdir.h"
#include "lm/generate.h"
#include "lm/scoring.h"
#include "lm/world.h"

namespace mtmc::lm {
namespace {

using at::Tensor;
using testing::data;
using testing::difference;

class TorchModel : public ::testing::TestWithParam<const char*> {};

TEST_P(TorchModel, AgreesWithTransformers) {
  const at::AutoGradMode no_grad(false);
  const auto expected = open_safetensors(data(std::string(GetParam()) + ".expected.safetensors")).value();
  const Tensor tokens = testing::tensor_of(expected.tensors, "tokens").to(at::kLong).unsqueeze(0);
  const Tensor wanted = testing::tensor_of(expected.tensors, "logits");  // of every eighth token
  const auto logits = [&](const Model& model) {
    const Tensor states = model.states(tokens, {})[0];
    return at::matmul(states.slice(0, 0, std::nullopt, 8), model.head().t()).to(at::kFloat);
  };
  EXPECT_LT((logits(testing::open(GetParam())) - wanted).abs().max().item<double>(), 1e-4);
  const double coarse = difference(logits(testing::open(GetParam(), at::kBFloat16)), wanted);
  EXPECT_GT(coarse, 1e-4);  // it is bf16
  EXPECT_LT(coarse, 0.1);
}

TEST_P(TorchModel, GoesOnFromKeysAndValues) {
  const at::AutoGradMode no_grad(false);
  const Model model = testing::open(GetParam());
  const Tensor tokens = at::tensor(std::vector<int64_t>{5, 9, 200, 17, 300, 4, 4, 78}).unsqueeze(0);
  KeyValues first, second;
  const Tensor whole = model.states(tokens, {})[0];
  model.states(tokens.narrow(1, 0, 3), {nullptr, &first});
  const Tensor middle = model.states(tokens.narrow(1, 3, 4), {&first, &second})[0];
  const Tensor last = model.states(tokens.narrow(1, 7, 1), {&second, nullptr})[0];
  EXPECT_LT(difference(middle, whole.narrow(0, 3, 4)), 1e-5);
  EXPECT_LT(difference(last, whole.narrow(0, 7, 1)), 1e-5);
}
INSTANTIATE_TEST_SUITE_P(TorchFamilies, TorchModel,
                         ::testing::Values("llama", "qwen", "deepseek", "smollm", "smollm.gguf"), [](const auto& name) {
                           return std::string(name.param == std::string("smollm.gguf") ? "gguf" : name.param);
                         });

// What make_models.py asks of its adapter.
Prompt adapter_prompt() {
  Prompt prompt;
  for (TokenId token = 3; token < 40; token += 2) prompt.tokens.push_back(token);
  prompt.actions = {{{50, 51, 52}, 2}, {{60}, 1}, {{70, 71, 72, 73}, 3}};
  return prompt;
}

std::map<std::string, Tensor> gradients(Model& model, bool shared, Tensor* scores = nullptr) {
  for (auto& [name, tensor] : model.adapter_parameters()) {
    tensor.mutable_grad() = Tensor();
    tensor.set_requires_grad(true);
  }
  const Prompt prompt = adapter_prompt();
  const Tensor each = shared ? score(model, understand(model, prompt.tokens), prompt.actions, ScoreMode::sum)
                             : score_replicated(model, prompt, ScoreMode::sum);
  (each * at::tensor({1.0f, -0.5f, 0.25f})).sum().backward();
  if (scores != nullptr) *scores = each.detach();
  std::map<std::string, Tensor> found;
  for (const auto& [name, tensor] : model.adapter_parameters()) found[name] = tensor.grad().clone();
  return found;
}

TEST(TorchAdapter, HasTheGradientsOfPython) {
  Model model = testing::open("llama");
  const Status loaded = model.load_adapter(data("adapter"));
  ASSERT_TRUE(loaded.ok()) << loaded.error().message();
  const auto wanted = open_safetensors(data("adapter/gradients.safetensors")).value();
  const auto scores = open_safetensors(data("adapter/scores.safetensors")).value();
  Tensor got;
  const auto found = gradients(model, true, &got);
  EXPECT_LT(difference(got, testing::tensor_of(scores.tensors, "scores")), 1e-5);
  ASSERT_EQ(found.size(), 28u);  // A and B of 7 projections in 2 layers
  ASSERT_EQ(wanted.tensors.size(), found.size());
  for (const auto& [name, gradient] : found)
    EXPECT_LT(difference(gradient, testing::tensor_of(wanted.tensors, name)), 1e-4) << name;
}

TEST(TorchScoring, SharedPromptIsExact) {
  for (const char* name : {"llama", "qwen"}) {
    Model model = testing::open(name);
    Rng rng(4);
    ASSERT_TRUE(model.add_lora({3, 9, {"q_proj", "k_proj", "v_proj", "down_proj"}}, rng).ok());
    {
      const at::AutoGradMode no_grad(false);
      for (auto& [key, tensor] : model.adapter_parameters())
        if (key.find("lora_B") != std::string::npos) tensor.normal_(0, 0.2);
    }
    Tensor shared_scores, scores;
    const auto shared = gradients(model, true, &shared_scores), replicated = gradients(model, false, &scores);
    EXPECT_LT(difference(shared_scores, scores), 1e-5);
    for (const auto& [key, gradient] : shared) EXPECT_LT(difference(gradient, replicated.at(key)), 1e-5) << key;
  }
}

// Prompts of other lengths, one of them with actions of one token only.
std::vector<Prompt> several_prompts() {
  std::vector<Prompt> all = {adapter_prompt(), adapter_prompt(), adapter_prompt()};
  all[1].tokens = {5};
  all[1].actions = {{{60}, 1}, {{61}, 1}};
  all[2].tokens.resize(7);
  all[2].actions.push_back({{80, 81, 82, 83, 84, 85}, 1});
  return all;
}

void expect_each_by_itself(Model& model, double scores_part, double gradients_part) {
  const std::vector<Prompt> prompts = several_prompts();
  std::vector<const Prompt*> all;
  for (const Prompt& prompt : prompts) all.push_back(&prompt);
  const auto weighed = [](const Tensor& scores) {
    return (scores * at::arange(1, scores.size(0) + 1, scores.options().requires_grad(false))).sum();
  };
  const auto learned = [&](const std::function<void()>& learn) {
    for (auto& [name, tensor] : model.adapter_parameters())
      tensor.mutable_grad() = Tensor(), tensor.set_requires_grad(true);
    learn();
    std::map<std::string, Tensor> found;
    for (const auto& [name, tensor] : model.adapter_parameters()) found[name] = tensor.grad().clone();
    return found;
  };
  const auto together = learned([&] {
    Tensor loss;
    for (const Tensor& scores : score_all(model, all, ScoreMode::per_token))
      loss = loss.defined() ? loss + weighed(scores) : weighed(scores);
    loss.backward();
  });
  const auto apart = learned([&] {
    for (const Prompt& prompt : prompts)
      weighed(score(model, understand(model, prompt.tokens), prompt.actions, ScoreMode::per_token)).backward();
  });
  for (const auto& [name, gradient] : together)
    EXPECT_LT(difference(gradient.cpu(), apart.at(name).cpu()), gradients_part) << name;
  const at::AutoGradMode no_grad(false);
  const std::vector<Tensor> scores = score_all(model, all, ScoreMode::sum);
  const Tensor last = last_states(model, all);
  for (size_t i = 0; i < prompts.size(); ++i) {
    const Understood one = understand(model, prompts[i].tokens);
    EXPECT_LT(difference(scores[i], score(model, one, prompts[i].actions, ScoreMode::sum)), scores_part);
    EXPECT_LT(difference(last[static_cast<int64_t>(i)], one.last), scores_part);
  }
}

TEST(TorchScoring, ManyPromptsInOneRowAreEachByItself) {
  Model model = testing::open("llama");
  ASSERT_TRUE(model.load_adapter(data("adapter")).ok());
  expect_each_by_itself(model, 1e-5, 1e-5);
}

// By other kernels, in half precision.
TEST(GpuScoring, ManyPromptsInOneRowAreEachByItself) {
  if (const auto there = find_placement("cuda", "bf16"); !there.ok()) GTEST_SKIP() << there.error().message();
  for (const char* dtype : {"bf16", "fp32"}) {
    const Placement placement = find_placement("cuda", dtype).value();
    Model model = Model::load(open_checkpoint(data("llama")).value(), placement).value();
    ASSERT_TRUE(model.load_adapter(data("adapter")).ok());
    expect_each_by_itself(model, 0.02, 0.05);
    Model wide = testing::wide(placement);  // whose heads flash kernels take
    Rng rng(4);
    ASSERT_TRUE(wide.add_lora({3, 9, {"q_proj", "v_proj"}}, rng).ok());
    expect_each_by_itself(wide, 0.02, 0.05);
  }
}

TEST(TorchScoring, PartsHoldAllPromptsInOrder) {
  const Model model = testing::open("llama");
  const Prompt shorter = adapter_prompt();
  // As long as what has room: with anything beside it, it is too much.
  Prompt longer;
  for (size_t tokens = 1 << 10; in_parts(model, {&longer, &shorter}).size() == 1; tokens *= 2)
    longer.tokens.assign(tokens, 1);
  const std::vector<const Prompt*> all = {&shorter, &shorter, &longer, &shorter};
  const auto parts = in_parts(model, all);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0], (std::vector<const Prompt*>{&shorter, &shorter}));
  EXPECT_EQ(parts[1], (std::vector<const Prompt*>{&longer}));
  EXPECT_EQ(parts[2], (std::vector<const Prompt*>{&shorter}));
  EXPECT_TRUE(in_parts(model, {}).empty());
}

TEST(TorchScoring, ModesDivideAndTheCategoricalAddsUp) {
  const at::AutoGradMode no_grad(false);
  const Model model = testing::open("smollm");
  const Prompt prompt = adapter_prompt();
  const Understood understood = understand(model, prompt.tokens);
  const Tensor sum = score(model, understood, prompt.actions, ScoreMode::sum);
  EXPECT_LT(
      difference(score(model, understood, prompt.actions, ScoreMode::per_token), sum / at::tensor({3.0f, 1.0f, 4.0f})),
      1e-6);
  EXPECT_LT(
      difference(score(model, understood, prompt.actions, ScoreMode::per_word), sum / at::tensor({2.0f, 1.0f, 3.0f})),
      1e-6);
  Prompt with = prompt;
  add_prior(with, {0.5, 0, -1}, {4, 0.5});
  EXPECT_LT(
      difference(score(model, understood, with.actions, ScoreMode::sum), sum * 0.5 + at::tensor({2.0f, 0.0f, -4.0f})),
      1e-5);
  EXPECT_LT(difference(score_all(model, {&with}, ScoreMode::per_token)[0],
                       score(model, understood, with.actions, ScoreMode::per_token)),
            1e-5);
  const Categorical choice = categorical(sum, 2.0);
  EXPECT_NEAR(choice.log_probabilities.exp().sum().item<double>(), 1, 1e-6);
  EXPECT_EQ(choice.greedy(), sum.argmax().item<int64_t>());
  EXPECT_NEAR(categorical(at::tensor({1.0f, 1.0f, 1.0f, 1.0f}), 1).entropy().item<double>(), std::log(4.0), 1e-6);
  std::vector<int> counts(3);
  Rng rng(7);
  for (int i = 0; i < 4000; ++i) ++counts[static_cast<size_t>(choice.sample(rng))];
  for (size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(counts[i] / 4000.0, choice.log_probabilities[static_cast<int64_t>(i)].exp().item<double>(), 0.03);
}

TEST(TorchScoring, CachesByWeightVersionAndCommonBeginning) {
  Model model = testing::open("qwen");
  PromptCache cache;
  std::vector<TokenId> tokens(20);
  std::iota(tokens.begin(), tokens.end(), 30);
  const Tensor first = cache.understand(model, tokens).last;
  EXPECT_EQ(cache.reused(), 0);
  cache.understand(model, tokens);
  EXPECT_EQ(cache.reused(), 20);
  std::vector<TokenId> other = tokens;
  other[15] = 7, other.push_back(8);
  const Tensor extended = cache.understand(model, other).last;
  EXPECT_EQ(cache.reused(), 15);
  const at::AutoGradMode no_grad(false);
  EXPECT_LT(difference(extended, understand(model, other).last), 1e-5);
  model.base_parameters().at("model.layers.1.mlp.up_proj.weight").mul_(1.5);
  const Tensor changed = cache.understand(model, tokens).last;
  EXPECT_EQ(cache.reused(), 0);
  EXPECT_GT(difference(changed, first), 1e-4);
  Rng rng(1);
  const uint64_t before = model.weight_version();
  ASSERT_TRUE(model.add_lora({}, rng).ok());
  model.merge_adapter();
  EXPECT_GT(model.weight_version(), before);
}

TEST(TorchAdapter, ComesBackFromDiskAndMerges) {
  const at::AutoGradMode no_grad(false);
  const TempDir folder;
  Model model = testing::open("llama");
  ASSERT_TRUE(model.load_adapter(data("adapter")).ok());
  ASSERT_TRUE(model.save_adapter(folder.path()).ok());
  const Tensor tokens = at::tensor(std::vector<int64_t>{5, 9, 200, 17}).unsqueeze(0);
  const Tensor plain = testing::open("llama").states(tokens, {}), adapted = model.states(tokens, {});
  EXPECT_GT(difference(adapted, plain), 1e-2);
  EXPECT_EQ(difference(model.states(tokens, {nullptr, nullptr, false}), plain), 0);
  Model other = testing::open("llama");
  const Status loaded = other.load_adapter(folder.path());
  ASSERT_TRUE(loaded.ok()) << loaded.error().message();
  EXPECT_EQ(difference(other.states(tokens, {}), adapted), 0);
  other.merge_adapter();
  EXPECT_FALSE(other.has_adapter());
  EXPECT_LT(difference(other.states(tokens, {}), adapted), 1e-5);
}

TEST(TorchAdapter, OfAnotherBaseIsRefused) {
  const TempDir folder;
  Model model = testing::open("llama");
  ASSERT_TRUE(model.load_adapter(data("adapter")).ok());
  ASSERT_TRUE(model.save_adapter(folder.path()).ok());
  Model deepseek = testing::open("deepseek"), smollm = testing::open("smollm");
  const Status same_shape = deepseek.load_adapter(folder.path());
  ASSERT_FALSE(same_shape.ok());
  EXPECT_NE(same_shape.error().message().find("it belongs to another base"), std::string::npos);
  EXPECT_FALSE(deepseek.has_adapter());
  const Status other_shape = smollm.load_adapter(data("adapter"));  // without our fingerprint: by shape
  ASSERT_FALSE(other_shape.ok());
  EXPECT_NE(other_shape.error().message().find("has a wrong shape"), std::string::npos)
      << other_shape.error().message();
  Rng rng(0);
  EXPECT_NE(model.add_lora({2, 2, {"x_proj"}}, rng).error().message().find("unknown projection: got x_proj"),
            std::string::npos);
}

TEST(TorchGenerate, IsGreedyOrDrawnBySeed) {
  const Model model = testing::open("qwen");
  GenerateRequest request{{5, 6, 7}, 12, 0};
  Rng rng(1);
  const Generated made = generate(model, request, rng).value();
  const at::AutoGradMode no_grad(false);
  std::vector<int64_t> so_far = {5, 6, 7};
  for (const TokenId token : made.tokens) {
    const Tensor last = model.states(at::tensor(so_far).unsqueeze(0), {})[0][-1];
    EXPECT_EQ(at::matmul(model.head(), last).argmax().item<int64_t>(), token);
    so_far.push_back(token);
  }
  EXPECT_TRUE(made.ended || made.tokens.size() == 12);
  request.temperature = 1;
  Rng a(5), b(5), c(6);
  const auto drawn = generate(model, request, a).value().tokens;
  EXPECT_EQ(drawn, generate(model, request, b).value().tokens);
  EXPECT_NE(drawn, generate(model, request, c).value().tokens);
  request.prompt.assign(256, 5);
  EXPECT_NE(generate(model, request, rng).error().message().find("too long: got 256 tokens"), std::string::npos);
}

}  // namespace
}  // namespace mtmc::lm
