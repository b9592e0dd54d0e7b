#include "checkpoint/checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"

namespace mtmc {
namespace {

namespace fs = std::filesystem;

std::string opening(const fs::path& path) { return "opening the model " + path.string(); }

Result<Json> read_json(const fs::path& path) {
  MTMC_TRY(const std::string text, read_file(path));
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return Error{"reading " + path.string(), "not JSON", "", "an object"};
  return json;
}

// ---- a Hugging Face folder ------------------------------------------------------------------------------------------

Result<std::vector<std::string>> shards_of(const fs::path& folder) {
  const fs::path index = folder / "model.safetensors.index.json";
  if (!fs::exists(index)) {
    if (fs::exists(folder / "model.safetensors")) return std::vector<std::string>{"model.safetensors"};
    return Error{opening(folder), "no weights", "", "model.safetensors or model.safetensors.index.json"};
  }
  MTMC_TRY(const Json json, read_json(index));
  std::set<std::string> names;
  const Json map = json.value("weight_map", Json());
  if (!map.is_object() || map.empty()) return Error{"reading " + index.string(), "no weight_map", "", ""};
  for (const auto& [tensor, shard] : map.items()) {
    if (!shard.is_string()) return Error{"reading " + index.string(), "a shard that is no name", shard.dump(), ""};
    names.insert(shard.get<std::string>());
  }
  for (const std::string& name : names)
    if (!fs::exists(folder / name))
      return Error{opening(folder), "a shard is missing", name, fmt::format("{}", fmt::join(names, ", "))};
  return std::vector<std::string>(names.begin(), names.end());
}

Result<Checkpoint> open_folder(const fs::path& folder) {
  for (const char* name : {"config.json", "tokenizer.json"})
    if (!fs::exists(folder / name))
      return Error{opening(folder), fmt::format("no {}", name), "", "a Hugging Face folder"};
  Checkpoint found;
  MTMC_TRY(const Json json, read_json(folder / "config.json"));
  MTMC_TRY(found.config, read_config(json));
  MTMC_TRY(found.tokenizer, Tokenizer::from_file(folder / "tokenizer.json"));
  MTMC_TRY(const auto shards, shards_of(folder));
  for (const std::string& shard : shards) {
    MTMC_TRY(SafetensorsFile file, open_safetensors(folder / shard));
    found.tensors.merge(file.tensors);
  }
  return found;
}

// ---- a GGUF file ----------------------------------------------------------------------------------------------------

// "blk.3.attn_q.weight" -> "model.layers.3.self_attn.q_proj.weight"; "" for a name that we do not know.
std::string plain_name(const std::string& name) {
  static const std::map<std::string, std::string> outside = {{"token_embd.weight", "model.embed_tokens.weight"},
                                                             {"output_norm.weight", "model.norm.weight"},
                                                             {"output.weight", "lm_head.weight"}};
  static const std::map<std::string, std::string> inside = {
      {"attn_norm", "input_layernorm"}, {"ffn_norm", "post_attention_layernorm"},
      {"attn_q", "self_attn.q_proj"},   {"attn_k", "self_attn.k_proj"},
      {"attn_v", "self_attn.v_proj"},   {"attn_output", "self_attn.o_proj"},
      {"ffn_gate", "mlp.gate_proj"},    {"ffn_up", "mlp.up_proj"},
      {"ffn_down", "mlp.down_proj"}};
  if (const auto found = outside.find(name); found != outside.end()) return found->second;
  const auto parts = split(name, '.');
  if (parts.size() != 4 || parts[0] != "blk") return "";
  const auto found = inside.find(parts[2]);
  return found == inside.end() ? "" : fmt::format("model.layers.{}.{}.{}", parts[1], found->second, parts[3]);
}

Result<ModelConfig> config_of(const GgufFile& file) {
  const Json& all = *file.metadata;
  const std::string kind = all.value("general.architecture", "");
  const auto at = [&](const std::string& key) { return all.value(kind + "." + key, Json()); };
  Json json = {{"model_type", kind},
               {"hidden_size", at("embedding_length")},
               {"intermediate_size", at("feed_forward_length")},
               {"num_hidden_layers", at("block_count")},
               {"num_attention_heads", at("attention.head_count")},
               {"num_key_value_heads", at("attention.head_count_kv")},
               {"head_dim", at("attention.key_length")},
               {"max_position_embeddings", at("context_length")},
               {"vocab_size", all.value("tokenizer.ggml.tokens", Json::array()).size()},
               {"tie_word_embeddings", !file.tensors.contains("output.weight")},
               {"eos_token_id", all.value("tokenizer.ggml.eos_token_id", Json())}};
  if (const Json epsilon = at("attention.layer_norm_rms_epsilon"); !epsilon.is_null()) json["rms_norm_eps"] = epsilon;
  if (const Json theta = at("rope.freq_base"); !theta.is_null()) json["rope_theta"] = theta;
  if (const Json scaling = at("rope.scaling.type"); !scaling.is_null() && scaling != "none")
    json["rope_scaling"] = {{"type", scaling}, {"factor", at("rope.scaling.factor")}};
  MTMC_TRY(ModelConfig config, read_config(json));
  if (const auto rope = file.tensors.find("rope_freqs.weight"); rope != file.tensors.end()) {
    config.rope.kind = RopeScaling::Kind::factors;
    config.rope.factors.resize(static_cast<size_t>(rope->second.count()));
    read_floats(rope->second, config.rope.factors);
    if (static_cast<int64_t>(config.rope.factors.size()) != config.head_width / 2)
      return Error{"reading a GGUF file", "rope_freqs of another width", std::to_string(config.rope.factors.size()),
                   std::to_string(config.head_width / 2)};
  }
  return config;
}

Result<Json> tokenizer_of(const GgufFile& file, const fs::path& path) {
  const Json& all = *file.metadata;
  try {
    if (all.value("tokenizer.ggml.model", "") != "gpt2")
      return Error{opening(path), "unknown tokenizer", all.value("tokenizer.ggml.model", ""), "gpt2 (byte-level BPE)"};
    return tokenizer_json(all.value("tokenizer.ggml.pre", ""),
                          all.at("tokenizer.ggml.tokens").get<std::vector<std::string>>(),
                          all.at("tokenizer.ggml.token_type").get<std::vector<int32_t>>(),
                          all.at("tokenizer.ggml.merges").get<std::vector<std::string>>());
  } catch (const Json::exception& error) {
    return Error{opening(path), error.what(), "", "a tokenizer in the file"};
  }
}

Result<Checkpoint> open_file(const fs::path& path) {
  MTMC_TRY(GgufFile file, open_gguf(path));
  Checkpoint found;
  MTMC_TRY(found.config, config_of(file));
  MTMC_TRY(const Json tokenizer, tokenizer_of(file, path));
  MTMC_TRY(found.tokenizer, Tokenizer::from_json(tokenizer));
  for (auto& [name, tensor] : file.tensors) {
    if (name == "rope_freqs.weight") continue;
    const std::string plain = plain_name(name);
    if (found.config.architecture == "llama" && plain.find("q_proj") != std::string::npos)
      tensor.paired_heads = found.config.heads;
    if (found.config.architecture == "llama" && plain.find("k_proj") != std::string::npos)
      tensor.paired_heads = found.config.kv_heads;
    found.tensors.emplace(plain.empty() ? name : plain, std::move(tensor));
  }
  return found;
}

// ---- both -----------------------------------------------------------------------------------------------------------

Status check_weights(Checkpoint& found) {
  const auto wanted = weights_of(found.config);
  for (const auto& [name, shape] : wanted) {
    const auto tensor = found.tensors.find(name);
    if (tensor == found.tensors.end())
      return Error{opening(found.path), "a weight is missing", "",
                   fmt::format("{} [{}]", name, fmt::join(shape, ", "))};
    if (tensor->second.shape != shape)
      return Error{opening(found.path), name + " has a wrong shape",
                   fmt::format("[{}]", fmt::join(tensor->second.shape, ", ")),
                   fmt::format("[{}]", fmt::join(shape, ", "))};
  }
  std::erase_if(found.tensors, [&](const auto& entry) {  // what older files carry along
    return entry.first.ends_with("rotary_emb.inv_freq") || (found.config.tied && entry.first == "lm_head.weight");
  });
  for (const auto& [name, tensor] : found.tensors)
    if (!wanted.contains(name))
      return Error{opening(found.path), "a weight that this architecture does not have", name,
                   found.config.architecture};
  return ok_status();
}

// Models pad their vocabulary by some hundred rows, and none has less rows than tokens.
Status check_tokenizer(const Checkpoint& found) {
  const int64_t tokens = found.tokenizer.size(), rows = found.config.vocabulary;
  if (tokens > rows || rows - tokens > std::max<int64_t>(1024, rows / 50))
    return Error{opening(found.path), "the tokenizer is another model's", fmt::format("{} tokens", tokens),
                 fmt::format("about {}, the rows of the embedding", rows)};
  for (const TokenId end : found.config.end)
    if (end < 0 || end >= tokens)
      return Error{opening(found.path), "the tokenizer is another model's", fmt::format("{} tokens", tokens),
                   fmt::format("one with the end token {}", end)};
  return ok_status();
}

std::string fingerprint_of(const Checkpoint& found) {
  std::string text = found.config.architecture;
  for (const auto& [name, tensor] : found.tensors) {
    const auto part = tensor.bytes.first(std::min<size_t>(tensor.bytes.size(), 1024));
    text += fmt::format("\n{} [{}] ", name, fmt::join(tensor.shape, ", "));
    text.append(reinterpret_cast<const char*>(part.data()), part.size());
  }
  return sha256(text);
}

}  // namespace

Result<Checkpoint> open_checkpoint(const fs::path& path) {
  if (!fs::exists(path))
    return Error{opening(path), "no such file or folder", "", "a Hugging Face folder or a GGUF file"};
  auto opened = fs::is_directory(path) ? open_folder(path) : open_file(path);
  if (!opened.ok()) {
    Error error = opened.error();
    if (error.doing.find(path.string()) == std::string::npos) error.doing = opening(path) + ": " + error.doing;
    return error;
  }
  opened->path = path;
  MTMC_RETURN_IF_ERROR(check_weights(*opened));
  MTMC_RETURN_IF_ERROR(check_tokenizer(*opened));
  opened->fingerprint = fingerprint_of(*opened);
  return opened;
}

Result<std::string> tokenizer_text(const fs::path& model) {
  if (fs::is_directory(model)) return read_file(model / "tokenizer.json");
  if (model.extension() == ".json") return read_file(model);
  MTMC_TRY(const GgufFile file, open_gguf(model));
  MTMC_TRY(const Json json, tokenizer_of(file, model));
  return json.dump();
}

}  // namespace mtmc
