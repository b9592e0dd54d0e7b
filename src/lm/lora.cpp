// Adapters: making, merging, and PEFT's layout on disk.
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "lm/floats.h"
#include "lm/model.h"

namespace mtmc::lm {
namespace {

using at::Tensor;

constexpr const char* kPrefix = "base_model.model.";    // PEFT's, before the names of weights
constexpr const char* kBase = "mtmc.base_fingerprint";  // ours, in the safetensors' metadata, which PEFT does not read

std::string short_name(const std::string& name) { return name.substr(name.find('.') + 1); }

Result<LoraShape> read_shape(const std::filesystem::path& folder) {
  const auto path = folder / "adapter_config.json";
  const std::string reading = "reading " + path.string();
  MTMC_TRY(const std::string text, read_file(path));
  try {
    const Json json = Json::parse(text);
    if (json.at("peft_type") != "LORA")
      return Error{reading, "unknown kind of adapter", json["peft_type"].dump(), "LORA"};
    for (const char* option : {"use_dora", "fan_in_fan_out", "lora_bias"})
      if (json.value(option, false)) return Error{reading, "unknown option", option, "plain LoRA"};
    for (const char* option : {"rank_pattern", "alpha_pattern", "modules_to_save", "layers_to_transform"})
      if (json.contains(option) && !json[option].empty()) return Error{reading, "unknown option", option, "plain LoRA"};
    if (json.value("bias", "none") != "none") return Error{reading, "biases are trained, too", json["bias"], "none"};
    LoraShape shape{json.at("r"), json.at("lora_alpha"), {}};
    if (shape.rank < 1) return Error{reading, "impossible rank", std::to_string(shape.rank), "1 or more"};
    if (json.value("use_rslora", false)) shape.alpha *= std::sqrt(static_cast<double>(shape.rank));
    if (!json.at("target_modules").is_array())
      return Error{reading, "target_modules is no list", json["target_modules"].dump(), R"(["q_proj", "v_proj"])"};
    for (const std::string name : json["target_modules"]) shape.targets.push_back(name.substr(name.rfind('.') + 1));
    return shape;
  } catch (const Json::exception& error) {
    return Error{reading, error.what(), "", "what PEFT writes"};
  }
}

}  // namespace

std::map<std::string, Tensor> Model::adapter_parameters() const {
  std::map<std::string, Tensor> all;
  for (size_t i = 0; i < layers_.size(); ++i)
    for (const auto& [name, linear] : layers_[i].linear) {
      if (!linear.a.defined()) continue;
      const std::string at = fmt::format("{}model.layers.{}.{}.", kPrefix, i, name);
      all[at + "lora_A.weight"] = linear.a;
      all[at + "lora_B.weight"] = linear.b;
    }
  return all;
}

Status Model::add_lora(const LoraShape& shape, Rng& rng) {
  const at::AutoGradMode no_grad(false);
  if (shape.rank < 1) return Error{"adding LoRA", "impossible rank", std::to_string(shape.rank), "1 or more"};
  std::vector<std::string> known;
  for (const auto& [name, linear] : layers_[0].linear) known.push_back(short_name(name));
  for (const std::string& target : shape.targets)
    if (std::find(known.begin(), known.end(), target) == known.end())
      return Error{"adding LoRA", "unknown projection", target, fmt::format("{}", fmt::join(known, ", "))};
  if (shape.targets.empty())
    return Error{"adding LoRA", "no projections", "", fmt::format("{}", fmt::join(known, ", "))};
  changes_ = weight_version() + 1;
  for (Layer& layer : layers_)
    for (auto& [name, linear] : layer.linear) {
      linear.a = linear.b = Tensor();
      if (std::find(shape.targets.begin(), shape.targets.end(), short_name(name)) == shape.targets.end()) continue;
      const int64_t out = linear.weight.size(0), in = linear.weight.size(1);
      Tensor a = at::empty({shape.rank, in}, at::kFloat);
      const double bound = 1 / std::sqrt(static_cast<double>(in));
      for (float& x : std::span(a.data_ptr<float>(), static_cast<size_t>(a.numel())))
        x = static_cast<float>((2 * rng.uniform() - 1) * bound);
      linear.a = a.to(placement_.device);
      linear.b = at::zeros({out, shape.rank}, linear.a.options());
      linear.scale = shape.alpha / static_cast<double>(shape.rank);
    }
  lora_ = shape;
  return ok_status();
}

Status Model::load_adapter(const std::filesystem::path& folder) {
  const std::string loading = "loading the adapter " + folder.string();
  MTMC_TRY(const LoraShape shape, read_shape(folder));
  MTMC_TRY(const SafetensorsFile file, open_safetensors(folder / "adapter_model.safetensors"));
  const auto base = file.metadata.find(kBase);
  if (base != file.metadata.end() && base->second != fingerprint_)
    return Error{loading, "it belongs to another base", base->second.substr(0, 16),
                 fingerprint_.substr(0, 16) + ", the fingerprint of " + name_};
  Model with = *this;  // shares the weights: ours stays as it is when something is wrong
  Rng rng(0);
  auto added = with.add_lora(shape, rng);
  if (!added.ok()) {
    Error error = added.error();
    error.doing = loading;
    return error;
  }
  auto wanted = with.adapter_parameters();
  for (const auto& [name, stored] : file.tensors) {
    const auto place = wanted.find(name);
    if (place == wanted.end()) return Error{loading, "it has a matrix that this base has no place for", name, name_};
    if (stored.shape != place->second.sizes().vec())
      return Error{loading, "it belongs to another base: " + name + " has a wrong shape",
                   fmt::format("[{}]", fmt::join(stored.shape, ", ")),
                   fmt::format("[{}]", fmt::join(place->second.sizes(), ", "))};
    const at::AutoGradMode no_grad(false);
    Tensor numbers = at::empty(stored.shape, at::kFloat);
    read_floats(stored, {numbers.data_ptr<float>(), static_cast<size_t>(numbers.numel())});
    place->second.copy_(numbers);
    wanted.erase(place);
  }
  if (!wanted.empty()) return Error{loading, "a matrix is missing", "", wanted.begin()->first};
  *this = std::move(with);
  return ok_status();
}

Status Model::save_adapter(const std::filesystem::path& folder) const {
  if (!has_adapter()) return Error{"saving an adapter", "the model has none", "", ""};
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code) return Error{"saving an adapter", code.message(), folder.string(), "a folder that can be written to"};
  const Json config = {{"peft_type", "LORA"},
                       {"task_type", "CAUSAL_LM"},
                       {"base_model_name_or_path", name_},
                       {"r", lora_.rank},
                       {"lora_alpha", lora_.alpha},
                       {"lora_dropout", 0.0},
                       {"target_modules", lora_.targets},
                       {"bias", "none"},
                       {"fan_in_fan_out", false},
                       {"init_lora_weights", true},
                       {"inference_mode", true}};
  std::map<std::string, FloatTensor> tensors;
  for (const auto& [name, tensor] : adapter_parameters()) tensors[name] = floats_of(tensor);
  MTMC_RETURN_IF_ERROR(
      write_safetensors(folder / "adapter_model.safetensors", tensors, {{"format", "pt"}, {kBase, fingerprint_}}));
  return write_file(folder / "adapter_config.json", config.dump(2) + "\n");
}

void Model::merge_adapter() {
  const at::AutoGradMode no_grad(false);
  changes_ = weight_version() + 1;
  for (Layer& layer : layers_)
    for (auto& [name, linear] : layer.linear) {
      if (!linear.a.defined()) continue;
      const Tensor update = at::matmul(linear.b, linear.a) * linear.scale;
      linear.weight = (linear.weight.to(at::kFloat) + update).to(linear.weight.scalar_type());
      linear.a = linear.b = Tensor();
    }
  lora_ = {0, 0, {}};
}

}  // namespace mtmc::lm
