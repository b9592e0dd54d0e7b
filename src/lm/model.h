// A decoder-only transformer of the Llama family on libtorch (RMS norms, Zhang and Sennrich 2019; rotary positions, Su
// et al. 2021; grouped queries, Ainslie et al. 2023; SwiGLU, Shazeer 2020), with LoRA (Hu et al. 2021) on any of its
// projections.
#pragma once
#include <ATen/core/Tensor.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "checkpoint/checkpoint.h"
#include "lm/attention.h"
#include "lm/device.h"

namespace mtmc::lm {

// Keys and values that later tokens attend to: for each layer [G, P, D], rotated.
struct KeyValues {
  std::vector<at::Tensor> keys, values;
  int64_t length() const { return keys.empty() ? 0 : keys[0].size(1); }
  // The first `tokens` of them, sharing memory.
  KeyValues first(int64_t tokens) const;
};

// y = x W^T + b + scale (x A^T) B^T. A and B are fp32 leaves, and undefined without an adapter.
struct Linear {
  at::Tensor weight, bias, a, b;
  double scale = 0;
};

struct LoraShape {
  int64_t rank = 8;
  double alpha = 16;
  std::vector<std::string> targets = {"q_proj", "v_proj"};  // of q, k, v, o, gate, up, down _proj
};

class Model {
 public:
  // Reads the weights; an Error when they do not fit into memory.
  static Result<Model> load(const Checkpoint& checkpoint, const Placement& placement);

  const ModelConfig& config() const { return config_; }
  const Placement& placement() const { return placement_; }

  struct Pass {
    const KeyValues* past = nullptr;  // what comes before, shared by all sequences
    KeyValues* kept = nullptr;        // gets past and the new tokens' keys and values; for one sequence
    bool adapters = true;
  };
  // tokens [N, R] int64 on any device -> the last layer's normed states [N, R, width]. Padding goes to the right, where
  // causal attention keeps it from mattering.
  at::Tensor states(const at::Tensor& tokens, const Pass& pass) const;
  // The same of a row of prompts and actions, tokens [T] int64 -> [T, width].
  at::Tensor states(const at::Tensor& tokens, const Packing& packing, bool adapters) const;
  // [vocabulary, width]: logits are states times its transpose.
  const at::Tensor& head() const { return config_.tied ? embedding_ : head_; }

  // Changes whenever a weight does, in place or as a whole: what a cache of keys and values is keyed by.
  uint64_t weight_version() const;

  // A new adapter, which changes nothing yet: A uniform in ±1/sqrt(in), B zero. Replaces the one that is there.
  Status add_lora(const LoraShape& shape, Rng& rng);
  // Reads adapter_config.json and adapter_model.safetensors as PEFT writes them. An Error for an adapter that belongs
  // to another base, that has what is not plain LoRA, or that lacks a matrix.
  Status load_adapter(const std::filesystem::path& folder);
  Status save_adapter(const std::filesystem::path& folder) const;
  // Adds the adapter to the weights and forgets it.
  void merge_adapter();
  bool has_adapter() const { return lora_.rank > 0; }

  // Writes the weights in fp32 as a Hugging Face folder; an adapter is not part of them. `tokenizer`: the text of its
  // tokenizer.json.
  Status save(const std::filesystem::path& folder, const std::string& tokenizer) const;

  // By name, as in weights_of and as PEFT names an adapter's ("...q_proj.lora_A.weight"). To train, set requires_grad_.
  std::map<std::string, at::Tensor> base_parameters() const;
  std::map<std::string, at::Tensor> adapter_parameters() const;

 private:
  struct Layer {
    at::Tensor input_norm, inner_norm;
    std::map<std::string, Linear> linear;  // "self_attn.q_proj" and so on
  };
  // Of a layer, rotated queries and keys, and values, [.., heads, tokens, D] -> what the queries saw.
  using See = std::function<at::Tensor(size_t layer, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v)>;
  at::Tensor attend(size_t layer, const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin, bool adapters,
                    const See& see) const;
  // All layers; tokens [.., T], which stand at `places` [T].
  at::Tensor through(const at::Tensor& tokens, const at::Tensor& places, bool adapters, const See& see) const;
  at::Tensor apply(const Layer& layer, const std::string& name, const at::Tensor& x, bool adapters) const;
  at::Tensor norm(const at::Tensor& x, const at::Tensor& weight) const;
  Linear& linear(size_t layer, const std::string& name) { return layers_[layer].linear.at(name); }

  ModelConfig config_;
  Placement placement_;
  std::string name_, fingerprint_;
  at::Tensor embedding_, head_, final_norm_, frequencies_;
  std::vector<Layer> layers_;
  LoraShape lora_{0, 0, {}};
  uint64_t changes_ = 0;  // more than any weight_version before the last exchange of weights
};

}  // namespace mtmc::lm
