#include "train/fresh.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "base/file.h"
#include "base/json.h"
#include "base/rng.h"
#include "checkpoint/checkpoint.h"

namespace mtmc::train {
namespace {

float normal(Rng& rng) {
  const double radius = std::sqrt(-2 * std::log(1 - rng.uniform()));
  return static_cast<float>(radius * std::cos(2 * std::numbers::pi * rng.uniform()));
}

}  // namespace

Result<int64_t> write_fresh_model(const FreshOptions& options) {
  constexpr const char* kMaking = "making a new model";
  MTMC_TRY(const std::string text, tokenizer_text(options.tokenizer));
  const Json parsed = Json::parse(text, nullptr, false);
  if (!parsed.is_object())
    return Error{kMaking, "the tokenizer is not JSON", options.tokenizer.string(), "tokenizer.json"};
  MTMC_TRY(const Tokenizer tokenizer, Tokenizer::from_json(parsed));
  if (options.heads < 1 || options.width % options.heads != 0)
    return Error{kMaking, "heads that do not divide the width", std::to_string(options.heads),
                 "a divisor of " + std::to_string(options.width)};
  ModelConfig config{.architecture = "llama",
                     .vocabulary = tokenizer.size(),
                     .width = options.width,
                     .inner = options.inner,
                     .layers = options.layers,
                     .heads = options.heads,
                     .kv_heads = options.kv_heads,
                     .head_width = options.width / options.heads,
                     .context = options.context,
                     .rope = {},
                     .tied = true,
                     .end = {}};
  if (const TokenId end = tokenizer.id_of("<|endoftext|>"); end >= 0) config.end = {end};
  MTMC_TRY(const Json json, config_json(config));
  MTMC_TRY(config, read_config(json));
  Rng rng(options.seed);
  std::map<std::string, FloatTensor> tensors;
  int64_t count = 0;
  for (const auto& [name, shape] : weights_of(config)) {
    FloatTensor& tensor = tensors[name];
    tensor.shape = shape;
    int64_t numbers = 1;
    for (const int64_t size : shape) numbers *= size;
    tensor.numbers.assign(static_cast<size_t>(numbers), 1);  // norms
    const double deviation =
        name == "model.embed_tokens.weight" ? 0.02 : 1 / std::sqrt(static_cast<double>(shape.back()));
    if (shape.size() == 2)
      for (float& x : tensor.numbers) x = static_cast<float>(deviation) * normal(rng);
    count += numbers;
  }
  std::error_code code;
  std::filesystem::create_directories(options.out, code);
  if (code) return Error{kMaking, code.message(), options.out.string(), "a folder that can be written to"};
  MTMC_RETURN_IF_ERROR(write_safetensors(options.out / "model.safetensors", tensors, {{"format", "pt"}}));
  MTMC_RETURN_IF_ERROR(write_file(options.out / "tokenizer.json", text));
  MTMC_RETURN_IF_ERROR(write_file(options.out / "config.json", json.dump(2) + "\n"));
  return count;
}

}  // namespace mtmc::train
