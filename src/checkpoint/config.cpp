#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "checkpoint/checkpoint.h"

namespace mtmc {
namespace {

constexpr const char* kReadingConfig = "reading config.json";

Status read_rope(const Json& json, ModelConfig& config) {
  Json rope = json.value("rope_parameters", Json());
  if (rope.is_null()) rope = json.value("rope_scaling", Json());
  config.rope_theta = json.value("rope_theta", config.rope_theta);
  if (rope.is_null()) return ok_status();
  config.rope_theta = rope.value("rope_theta", config.rope_theta);
  const std::string kind = rope.value("rope_type", rope.value("type", "default"));
  config.rope.factor = rope.value("factor", 1.0);
  if (kind == "default") return ok_status();
  if (kind == "linear") {
    config.rope.kind = RopeScaling::Kind::linear;
  } else if (kind == "llama3") {
    config.rope.kind = RopeScaling::Kind::llama3;
    config.rope.low = rope.at("low_freq_factor");
    config.rope.high = rope.at("high_freq_factor");
    config.rope.original_context = rope.at("original_max_position_embeddings");
  } else {
    return Error{kReadingConfig, "unknown rotary scaling", kind, "default, linear or llama3"};
  }
  return ok_status();
}

Status check_sizes(const ModelConfig& config) {
  for (const int64_t size : {config.vocabulary, config.width, config.inner, config.layers, config.heads,
                             config.kv_heads, config.head_width, config.context})
    if (size <= 0 || size > (1 << 28))
      return Error{kReadingConfig, "an impossible size", std::to_string(size), "1 or more"};
  if (config.heads % config.kv_heads != 0 || config.head_width % 2 != 0)
    return Error{kReadingConfig, "heads that do not go together",
                 fmt::format("{} heads of {} with {} of keys", config.heads, config.head_width, config.kv_heads), ""};
  return ok_status();
}

Result<ModelConfig> read_fields(const Json& json) {
  ModelConfig config;
  const std::string kind = json.value("model_type", "");
  if (kind != "llama" && kind != "qwen2") return Error{kReadingConfig, "unknown architecture", kind, "llama or qwen2"};
  if (const std::string act = json.value("hidden_act", "silu"); act != "silu")
    return Error{kReadingConfig, "unknown activation", act, "silu"};
  if (json.value("use_sliding_window", false)) return Error{kReadingConfig, "a sliding window", "", "full attention"};
  config.architecture = kind;
  config.vocabulary = json.at("vocab_size");
  config.width = json.at("hidden_size");
  config.inner = json.at("intermediate_size");
  config.layers = json.at("num_hidden_layers");
  config.heads = json.at("num_attention_heads");
  const auto or_else = [&](const char* key, int64_t other) {
    return json.contains(key) && !json[key].is_null() ? json[key].get<int64_t>() : other;
  };
  config.kv_heads = or_else("num_key_value_heads", config.heads);
  config.head_width = or_else("head_dim", config.heads > 0 ? config.width / config.heads : 0);
  config.context = json.value("max_position_embeddings", int64_t{2048});
  config.norm_epsilon = json.value("rms_norm_eps", 1e-6);
  config.qkv_bias = kind == "qwen2" || json.value("attention_bias", false);
  config.output_bias = kind == "llama" && json.value("attention_bias", false);
  config.mlp_bias = json.value("mlp_bias", false);
  config.tied = json.value("tie_word_embeddings", false);
  const Json end = json.value("eos_token_id", Json());
  if (end.is_number()) config.end = {end.get<TokenId>()};
  if (end.is_array()) config.end = end.get<std::vector<TokenId>>();
  MTMC_RETURN_IF_ERROR(read_rope(json, config));
  MTMC_RETURN_IF_ERROR(check_sizes(config));
  return config;
}

}  // namespace

Result<ModelConfig> read_config(const Json& json) {
  try {
    return read_fields(json);
  } catch (const Json::exception& error) {
    return Error{kReadingConfig, error.what(), "", "the fields of transformers' config.json"};
  }
}

Result<Json> config_json(const ModelConfig& config) {
  Json rope = {{"rope_type", "default"}, {"rope_theta", config.rope_theta}};
  switch (config.rope.kind) {
    case RopeScaling::Kind::none: break;
    case RopeScaling::Kind::linear: rope.update({{"rope_type", "linear"}, {"factor", config.rope.factor}}); break;
    case RopeScaling::Kind::llama3:
      rope.update({{"rope_type", "llama3"},
                   {"factor", config.rope.factor},
                   {"low_freq_factor", config.rope.low},
                   {"high_freq_factor", config.rope.high},
                   {"original_max_position_embeddings", config.rope.original_context}});
      break;
    case RopeScaling::Kind::factors:
      return Error{"writing config.json", "rotary factors of a GGUF file", "", "default, linear or llama3 scaling"};
  }
  Json json = {{"model_type", config.architecture},
               {"architectures", {config.architecture == "qwen2" ? "Qwen2ForCausalLM" : "LlamaForCausalLM"}},
               {"vocab_size", config.vocabulary},
               {"hidden_size", config.width},
               {"intermediate_size", config.inner},
               {"num_hidden_layers", config.layers},
               {"num_attention_heads", config.heads},
               {"num_key_value_heads", config.kv_heads},
               {"head_dim", config.head_width},
               {"max_position_embeddings", config.context},
               {"rms_norm_eps", config.norm_epsilon},
               {"rope_parameters", rope},
               {"hidden_act", "silu"},
               {"mlp_bias", config.mlp_bias},
               {"tie_word_embeddings", config.tied},
               {"dtype", "float32"}};
  if (config.architecture == "llama") json["attention_bias"] = config.qkv_bias;
  if (!config.end.empty()) json["eos_token_id"] = config.end;
  return json;
}

std::map<std::string, std::vector<int64_t>> weights_of(const ModelConfig& config) {
  const int64_t queries = config.heads * config.head_width, keys = config.kv_heads * config.head_width;
  std::map<std::string, std::vector<int64_t>> weights = {
      {"model.embed_tokens.weight", {config.vocabulary, config.width}}, {"model.norm.weight", {config.width}}};
  if (!config.tied) weights["lm_head.weight"] = {config.vocabulary, config.width};
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    const std::string at = fmt::format("model.layers.{}.", layer);
    const auto linear = [&](const std::string& name, int64_t out, int64_t in, bool bias) {
      weights[at + name + ".weight"] = {out, in};
      if (bias) weights[at + name + ".bias"] = {out};
    };
    weights[at + "input_layernorm.weight"] = weights[at + "post_attention_layernorm.weight"] = {config.width};
    linear("self_attn.q_proj", queries, config.width, config.qkv_bias);
    linear("self_attn.k_proj", keys, config.width, config.qkv_bias);
    linear("self_attn.v_proj", keys, config.width, config.qkv_bias);
    linear("self_attn.o_proj", config.width, queries, config.output_bias);
    linear("mlp.gate_proj", config.inner, config.width, config.mlp_bias);
    linear("mlp.up_proj", config.inner, config.width, config.mlp_bias);
    linear("mlp.down_proj", config.width, config.inner, config.mlp_bias);
  }
  return weights;
}

}  // namespace mtmc
