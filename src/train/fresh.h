// A small model with random weights, to be trained from scratch.
#pragma once
#include <filesystem>

#include "base/result.h"

namespace mtmc::train {

struct FreshOptions {
  std::filesystem::path tokenizer;  // a model's folder, a GGUF file or a tokenizer.json
  std::filesystem::path out;
  int64_t width = 64, layers = 4, heads = 4, kv_heads = 2, inner = 192, context = 1280;
  uint64_t seed = 0;
};

// Writes a Hugging Face folder: a Llama with tied embeddings; matrices are drawn with a deviation of 1/sqrt(in), the
// embedding with 0.02. Returns the number of weights. An Error for sizes that do not go together.
Result<int64_t> write_fresh_model(const FreshOptions& options);

}  // namespace mtmc::train
