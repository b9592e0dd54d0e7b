#include "lm/model.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/roll.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/tensor.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "lm/attention.h"

namespace mtmc::lm {
namespace {

using at::Tensor;

constexpr const char* kAttention[] = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj"};
constexpr const char* kInner[] = {"mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"};

// Rows in llama.cpp's order are neighbours (2i, 2i+1) where Hugging Face's have halves (i, i + D/2).
Tensor unpair(const Tensor& x, int64_t heads) {
  std::vector<int64_t> sizes = {heads, x.size(0) / heads / 2, 2};
  if (x.dim() == 2) sizes.push_back(x.size(1));
  return x.reshape(sizes).transpose(1, 2).reshape(x.sizes());
}

Tensor read_tensor(const StoredTensor& stored, const Placement& placement) {
  Tensor tensor = at::empty(stored.shape, at::kFloat);
  read_floats(stored, {tensor.data_ptr<float>(), static_cast<size_t>(tensor.numel())});
  if (stored.paired_heads > 0) tensor = unpair(tensor, stored.paired_heads);
  return tensor.to(placement.device, placement.dtype);
}

// 1 / theta^(2i/D), stretched; in double, as fp32 in the end.
std::vector<float> rotary_frequencies(const ModelConfig& config) {
  const RopeScaling& rope = config.rope;
  std::vector<float> all;
  for (int64_t i = 0; i < config.head_width / 2; ++i) {
    double frequency =
        1 / std::pow(config.rope_theta, 2.0 * static_cast<double>(i) / static_cast<double>(config.head_width));
    switch (rope.kind) {
      case RopeScaling::Kind::none: break;
      case RopeScaling::Kind::linear: frequency /= rope.factor; break;
      case RopeScaling::Kind::factors: frequency /= rope.factors[static_cast<size_t>(i)]; break;
      case RopeScaling::Kind::llama3: {
        // Wavelengths within context / high stay, those beyond context / low are stretched, between them linearly.
        const double turns = static_cast<double>(rope.original_context) * frequency / (2 * std::numbers::pi);
        const double kept = std::clamp((turns - rope.low) / (rope.high - rope.low), 0.0, 1.0);
        frequency = (1 - kept) * frequency / rope.factor + kept * frequency;
        break;
      }
    }
    all.push_back(static_cast<float>(frequency));
  }
  return all;
}

// (a, b) -> (a cos - b sin, b cos + a sin), of the halves of a head. `sin` begins with -sin, for the first half.
Tensor rotate(const Tensor& x, const Tensor& cos, const Tensor& sin) {
  return at::addcmul(x * cos, x.roll(x.size(-1) / 2, -1), sin);
}

Tensor after(const Tensor& past, const Tensor& fresh) { return past.defined() ? at::cat({past, fresh}, 1) : fresh; }

}  // namespace

KeyValues KeyValues::first(int64_t tokens) const {
  KeyValues part;
  for (const Tensor& k : keys) part.keys.push_back(k.narrow(1, 0, tokens));
  for (const Tensor& v : values) part.values.push_back(v.narrow(1, 0, tokens));
  return part;
}

Result<Model> Model::load(const Checkpoint& checkpoint, const Placement& placement) try {
  const at::AutoGradMode no_grad(false);
  Model model;
  model.config_ = checkpoint.config;
  model.placement_ = placement;
  model.name_ = checkpoint.path.string();
  model.fingerprint_ = checkpoint.fingerprint;
  const auto read = [&](const std::string& name) {
    const auto found = checkpoint.tensors.find(name);
    return found == checkpoint.tensors.end() ? Tensor() : read_tensor(found->second, placement);
  };
  model.embedding_ = read("model.embed_tokens.weight");
  model.final_norm_ = read("model.norm.weight");
  model.head_ = read("lm_head.weight");
  model.frequencies_ = at::tensor(rotary_frequencies(model.config_)).to(placement.device);
  for (int64_t i = 0; i < model.config_.layers; ++i) {
    const std::string at = fmt::format("model.layers.{}.", i);
    Layer layer{read(at + "input_layernorm.weight"), read(at + "post_attention_layernorm.weight"), {}};
    const auto add = [&](const std::string& name) {
      layer.linear[name] = {read(at + name + ".weight"), read(at + name + ".bias"), {}, {}, 0};
    };
    for (const char* name : kAttention) add(name);
    for (const char* name : kInner) add(name);
    model.layers_.push_back(std::move(layer));
  }
  return model;
} catch (const c10::OutOfMemoryError& error) {
  return Error{"loading " + checkpoint.path.string(), "out of memory", error.what_without_backtrace(), ""};
}

Tensor Model::norm(const Tensor& x, const Tensor& weight) const {
  return at::rms_norm(x, {x.size(-1)}, weight, config_.norm_epsilon);  // one kernel on a GPU: launches are its time
}

Tensor Model::apply(const Layer& layer, const std::string& name, const Tensor& x, bool adapters) const {
  const Linear& linear = layer.linear.at(name);
  const Tensor y = at::linear(x, linear.weight, linear.bias.defined() ? std::optional(linear.bias) : std::nullopt);
  if (!adapters || !linear.a.defined()) return y;
  return y + at::linear(at::linear(x, linear.a.to(x.scalar_type())), linear.b.to(x.scalar_type())) * linear.scale;
}

Tensor Model::attend(size_t index, const Tensor& x, const Tensor& cos, const Tensor& sin, bool adapters,
                     const See& see) const {
  const Layer& layer = layers_[index];
  const auto heads = [&](const char* name, int64_t count) {
    return apply(layer, name, x, adapters).unflatten(-1, {count, config_.head_width}).transpose(-3, -2);
  };
  const Tensor q = rotate(heads("self_attn.q_proj", config_.heads), cos, sin);
  const Tensor k = rotate(heads("self_attn.k_proj", config_.kv_heads), cos, sin);
  const Tensor seen = see(index, q, k, heads("self_attn.v_proj", config_.kv_heads));
  return apply(layer, "self_attn.o_proj", seen.transpose(-3, -2).flatten(-2, -1), adapters);
}

Tensor Model::through(const Tensor& tokens, const Tensor& places, bool adapters, const See& see) const {
  const Tensor angles = at::outer(places, frequencies_);  // [T, D / 2]
  const Tensor one_sin = angles.sin();
  const Tensor cos = angles.cos().repeat({1, 2}).to(placement_.dtype),
               sin = at::cat({-one_sin, one_sin}, -1).to(placement_.dtype);
  Tensor x = at::embedding(embedding_, tokens.to(placement_.device));
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    x = x + attend(i, norm(x, layer.input_norm), cos, sin, adapters, see);
    const Tensor inner = norm(x, layer.inner_norm);
    const Tensor gate = at::silu(apply(layer, "mlp.gate_proj", inner, adapters));
    x = x + apply(layer, "mlp.down_proj", gate * apply(layer, "mlp.up_proj", inner, adapters), adapters);
  }
  return norm(x, final_norm_);
}

Tensor Model::states(const Tensor& tokens, const Pass& pass) const {
  MTMC_CHECK(pass.kept == nullptr || tokens.size(0) == 1, "keys and values are kept of one sequence");
  MTMC_CHECK(pass.kept == nullptr || pass.kept != pass.past, "what is kept is another object than what is past");
  if (pass.kept != nullptr) *pass.kept = {};
  const int64_t begin = pass.past != nullptr ? pass.past->length() : 0;
  const Tensor places = at::arange(begin, begin + tokens.size(1), frequencies_.options());
  return through(tokens, places, pass.adapters, [&](size_t i, const Tensor& q, const Tensor& k, const Tensor& v) {
    const Tensor past_k = begin > 0 ? pass.past->keys[i] : Tensor(),
                 past_v = begin > 0 ? pass.past->values[i] : Tensor();
    if (pass.kept != nullptr) {
      pass.kept->keys.push_back(after(past_k, k[0]));
      pass.kept->values.push_back(after(past_v, v[0]));
    }
    return two_region_attention(q, k, v, past_k, past_v);
  });
}

Tensor Model::states(const Tensor& tokens, const Packing& packing, bool adapters) const {
  MTMC_CHECK(tokens.size(0) == packing.tokens(), "the packing is that of the tokens");
  const Tensor unseen = packing.masked ? packing.unseen() : Tensor();
  return through(tokens, packing.places(), adapters, [&](size_t, const Tensor& q, const Tensor& k, const Tensor& v) {
    return packing.masked ? masked_attention(q, k, v, unseen) : packed_attention(q, k, v, packing);
  });
}

std::map<std::string, Tensor> Model::base_parameters() const {
  std::map<std::string, Tensor> all = {{"model.embed_tokens.weight", embedding_}, {"model.norm.weight", final_norm_}};
  if (!config_.tied) all["lm_head.weight"] = head_;
  for (size_t i = 0; i < layers_.size(); ++i) {
    const std::string at = fmt::format("model.layers.{}.", i);
    all[at + "input_layernorm.weight"] = layers_[i].input_norm;
    all[at + "post_attention_layernorm.weight"] = layers_[i].inner_norm;
    for (const auto& [name, linear] : layers_[i].linear) {
      all[at + name + ".weight"] = linear.weight;
      if (linear.bias.defined()) all[at + name + ".bias"] = linear.bias;
    }
  }
  return all;
}

uint64_t Model::weight_version() const {
  uint64_t version = changes_;
  for (const auto& [name, tensor] : base_parameters()) version += tensor._version();
  for (const auto& [name, tensor] : adapter_parameters()) version += tensor._version();
  return version;
}

}  // namespace mtmc::lm
