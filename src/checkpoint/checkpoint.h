// A language model as it lies on disk, a Hugging Face folder or a GGUF file: its shape, its tokenizer, its weights.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "checkpoint/stored.h"
#include "checkpoint/tokenizer.h"

namespace mtmc {

// How rotary frequencies are stretched for longer contexts: not, all alike, or as Llama 3 does by wavelength; `factors`
// divide each frequency, which is how GGUF states the result.
struct RopeScaling {
  enum class Kind { none, linear, llama3, factors } kind = Kind::none;
  double factor = 1, low = 1, high = 4;
  int64_t original_context = 8192;
  std::vector<float> factors;
};

// A decoder-only transformer of the Llama family: RMS norms, rotary positions, grouped-query attention, SwiGLU.
struct ModelConfig {
  std::string architecture;  // "llama" or "qwen2"
  int64_t vocabulary = 0, width = 0, inner = 0, layers = 0, heads = 0, kv_heads = 0, head_width = 0, context = 0;
  double norm_epsilon = 1e-6, rope_theta = 10000;
  RopeScaling rope;
  bool qkv_bias = false, output_bias = false, mlp_bias = false;
  bool tied = false;  // the last product uses the embedding
  std::vector<TokenId> end;
};

// config.json in the spelling of transformers 4 and 5.
Result<ModelConfig> read_config(const Json& json);
// The same in transformers 5's spelling. An Error for rotary factors of a GGUF file, which config.json has no word for.
Result<Json> config_json(const ModelConfig& config);
// The weights of such a model, by the names that Hugging Face gives them: name -> shape.
std::map<std::string, std::vector<int64_t>> weights_of(const ModelConfig& config);

struct Checkpoint {
  std::filesystem::path path;
  ModelConfig config;
  Tokenizer tokenizer;
  StoredTensors tensors;    // exactly weights_of(config)
  std::string fingerprint;  // SHA-256 over the shape and a part of each weight: which base an adapter belongs to
};

// Refuses what is incomplete, of another shape than config.json says, unknown, or has a tokenizer of another model.
Result<Checkpoint> open_checkpoint(const std::filesystem::path& path);

// The text of a model's tokenizer.json: that of its folder, the file itself, or what a GGUF file says.
Result<std::string> tokenizer_text(const std::filesystem::path& model);

}  // namespace mtmc
