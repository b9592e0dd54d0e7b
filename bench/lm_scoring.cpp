// What a shared prompt saves: scoring N actions of R tokens behind a prompt of P, and a training step on them (forward
// and backward, LoRA on q and v), against the same with the prompt copied for each action; and what it saves beyond
// that to have several decisions in one row, or to capture a decision's pass on a GPU. Random weights.
//   ninja -C build/release bench_lm_scoring && build/release/bench_lm_scoring --shape 135m --device cuda --dtype bf16
#include <ATen/ops/cat.h>
#include <c10/core/Allocator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/GradMode.h>
#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/process.h"
#include "lm/captured_scores.h"
#include "lm/device.h"
#include "lm/scoring.h"

namespace mtmc::lm {
namespace {

struct Options {
  std::string shape = "small", device = "cpu", dtype = "fp32";
  int64_t prompt = 2048, actions = 32, length = 16, batch = 1, decisions = 1;
  int repeats = 3;
  bool training = false, graphs = true;
};

// SmolLM2-135M, DeepSeek-Coder-1.3B, and one for a CPU.
ModelConfig shape_of(const std::string& name) {
  ModelConfig config{.architecture = "llama",
                     .vocabulary = 4096,
                     .width = 128,
                     .inner = 384,
                     .layers = 4,
                     .heads = 4,
                     .kv_heads = 2,
                     .head_width = 32,
                     .context = 16384,
                     .rope = {},
                     .tied = true,
                     .end = {}};
  if (name == "135m")
    config.vocabulary = 49152, config.width = 576, config.inner = 1536, config.layers = 30, config.heads = 9,
    config.kv_heads = 3, config.head_width = 64;
  if (name == "1.3b")
    config.vocabulary = 32256, config.width = 2048, config.inner = 5504, config.layers = 24, config.heads = 16,
    config.kv_heads = 16, config.head_width = 128, config.tied = false;
  return config;
}

// All weights begin at the same random numbers, which lie in `numbers`.
Checkpoint random_checkpoint(const ModelConfig& config, std::vector<float>& numbers) {
  Checkpoint checkpoint;
  checkpoint.config = config;
  size_t most = 0;
  for (const auto& [name, shape] : weights_of(config)) {
    StoredTensor& tensor = checkpoint.tensors[name];
    tensor.shape = shape;
    most = std::max(most, static_cast<size_t>(tensor.count()));
  }
  Rng rng(1);
  numbers.resize(most);
  for (float& x : numbers) x = static_cast<float>((rng.uniform() - 0.5) * 0.05);
  for (auto& [name, tensor] : checkpoint.tensors)
    tensor.bytes = std::as_bytes(std::span(numbers)).first(static_cast<size_t>(tensor.count()) * sizeof(float));
  return checkpoint;
}

enum class Way { row, shared, copied, captured };
constexpr const char* kNames[] = {"in a row", "shared", "copied", "captured"};

Prompt random_prompt(const Options& options, const ModelConfig& config, Rng& rng) {
  Prompt prompt;
  const auto draw = [&] { return static_cast<TokenId>(rng.below(static_cast<uint64_t>(config.vocabulary))); };
  for (int64_t i = 0; i < options.prompt; ++i) prompt.tokens.push_back(draw());
  for (int64_t i = 0; i < options.actions; ++i) {
    Candidate& action = prompt.actions.emplace_back();
    for (int64_t j = 0; j < options.length; ++j) action.tokens.push_back(draw());
  }
  return prompt;
}

// The copied prompts go through the model `batch` at a time: all at once do not fit.
double once(const Options& options, Way way, const Model& model, const std::vector<const Prompt*>& prompts,
            CapturedScores& captured) {
  const double start = now_seconds();
  double sum = 0;
  const auto finish = [&](const at::Tensor& scores) {
    const at::Tensor total = scores.sum();
    if (options.training) total.backward();
    sum += total.item<double>();  // waits for a GPU
  };
  if (way == Way::row)
    for (const auto& part : in_parts(model, prompts)) finish(at::cat(score_all(model, part, ScoreMode::sum)));
  for (const Prompt* prompt : prompts) {
    if (way == Way::captured) finish(captured.score(model, *prompt, ScoreMode::sum));
    if (way == Way::shared) finish(score(model, understand(model, prompt->tokens), prompt->actions, ScoreMode::sum));
    for (size_t from = 0; way == Way::copied && from < prompt->actions.size();) {
      const size_t to = std::min(prompt->actions.size(), from + static_cast<size_t>(options.batch));
      const auto at = [&](size_t i) { return prompt->actions.begin() + static_cast<long>(i); };
      finish(score_replicated(model, {prompt->tokens, {at(from), at(to)}}, ScoreMode::sum));
      from = to;
    }
  }
  MTMC_CHECK(std::isfinite(sum), "scores are finite");
  return now_seconds() - start;
}

// Bytes at the most: on a GPU those of tensors, else of the process.
double peak_bytes(const Placement& placement) {
  if (placement.device.is_cuda())
    if (auto* allocator = dynamic_cast<c10::DeviceAllocator*>(c10::GetAllocator(c10::DeviceType::CUDA)))
      return static_cast<double>(allocator->getDeviceStats(placement.device.index()).allocated_bytes[0].peak);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

// In a process of its own, so that its memory is its own: seconds and bytes.
Result<std::pair<double, double>> measure(const Options& options, Way way) {
  int ends[2];
  MTMC_CHECK(pipe(ends) == 0, "a pipe");
  const pid_t child = fork();
  if (child == 0) {
    const auto placement = find_placement(options.device, options.dtype);
    if (!placement.ok()) fmt::print(stderr, "bench_lm_scoring: {}\n", placement.error().message()), _exit(2);
    std::vector<float> numbers;
    Model model = Model::load(random_checkpoint(shape_of(options.shape), numbers), *placement).value();
    Rng rng(3);
    const at::AutoGradMode gradients(options.training);
    MTMC_CHECK(model.add_lora({}, rng).ok(), "an adapter");
    if (options.training)
      for (auto& [name, tensor] : model.adapter_parameters()) tensor.requires_grad_(true);
    Rng drawn(2);
    std::vector<Prompt> prompts;
    for (int64_t i = 0; i < options.decisions; ++i) prompts.push_back(random_prompt(options, model.config(), drawn));
    std::vector<const Prompt*> all;
    for (const Prompt& prompt : prompts) all.push_back(&prompt);
    double best = 1e300;
    CapturedScores captured;  // the second time it captures
    const int before = way == Way::captured ? 2 : 1;
    for (int i = 0; i < before + options.repeats; ++i) {
      const double seconds = once(options, way, model, all, captured);
      if (i >= before) best = std::min(best, seconds);
    }
    const double found[2] = {best, peak_bytes(*placement)};
    _exit(write(ends[1], found, sizeof found) == sizeof found ? 0 : 1);
  }
  double found[2] = {};
  close(ends[1]);
  const bool whole = read(ends[0], found, sizeof found) == sizeof found;
  close(ends[0]);
  waitpid(child, nullptr, 0);
  if (!whole)
    return Error{"measuring", "no figures came back: out of memory, perhaps", options.shape, "a smaller --batch"};
  return std::pair{found[0], found[1]};
}

int main_of(int argc, char** argv) {
  Options options;
  CLI::App app("Scoring and training steps with a shared prompt against copies of it.", "bench_lm_scoring");
  app.add_option("--shape", options.shape)->check(CLI::IsMember({"small", "135m", "1.3b"}));
  app.add_option("--device", options.device);
  app.add_option("--dtype", options.dtype);
  app.add_option("--prompt", options.prompt, "P, tokens");
  app.add_option("--actions", options.actions, "N");
  app.add_option("--length", options.length, "R, tokens of an action");
  app.add_option("--batch", options.batch, "copies that go through the model at a time");
  app.add_option("--decisions", options.decisions, "prompts, each with its actions");
  app.add_option("--repeats", options.repeats, "the best of which counts");
  app.add_flag("!--no-graphs", options.graphs, "of scoring, leave out what is captured on a GPU");
  app.add_flag("--training", options.training, "forward and backward instead of scores alone");
  CLI11_PARSE(app, argc, argv);
  fmt::print("{} of {}, {} decision{} of P = {}, N = {}, R = {}\n", options.training ? "a training step" : "scoring",
             options.shape, options.decisions, options.decisions == 1 ? "" : "s", options.prompt, options.actions,
             options.length);
  std::vector<std::pair<double, double>> found;
  for (const Way way : {Way::copied, Way::shared, Way::row, Way::captured}) {
    if (way == Way::captured && (options.training || !options.graphs)) continue;
    const auto measured = measure(options, way);
    if (!measured.ok()) return fmt::print(stderr, "{}\n", measured.error().message()), 2;
    found.push_back(*measured);
    fmt::print("{:<8} {:>10.3f} s {:>8.2f} GB, {:>6.1f} times as fast, {:.2f} of the memory\n",
               kNames[static_cast<size_t>(way)], measured->first, measured->second / 1e9,
               found[0].first / measured->first, measured->second / found[0].second);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace mtmc::lm

int main(int argc, char** argv) { mtmc::lm::leave(mtmc::lm::main_of(argc, argv)); }
