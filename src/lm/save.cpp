#include <ATen/ops/empty.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "lm/floats.h"
#include "lm/model.h"

namespace mtmc::lm {

FloatTensor floats_of(const at::Tensor& tensor) {
  const at::Tensor on_host = tensor.detach().to(at::kCPU, at::kFloat).contiguous();
  const float* data = on_host.data_ptr<float>();
  return {on_host.sizes().vec(), {data, data + on_host.numel()}};
}

at::Tensor tensor_of(const StoredTensor& stored) {
  at::Tensor tensor = at::empty(stored.shape, at::kFloat);
  read_floats(stored, {tensor.data_ptr<float>(), static_cast<size_t>(tensor.numel())});
  return tensor;
}

Status Model::save(const std::filesystem::path& folder, const std::string& tokenizer) const {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code) return Error{"saving a model", code.message(), folder.string(), "a folder that can be written to"};
  MTMC_TRY(const Json config, config_json(config_));
  std::map<std::string, FloatTensor> tensors;
  for (const auto& [name, tensor] : base_parameters()) tensors[name] = floats_of(tensor);
  MTMC_RETURN_IF_ERROR(write_safetensors(folder / "model.safetensors", tensors, {{"format", "pt"}}));
  MTMC_RETURN_IF_ERROR(write_file(folder / "tokenizer.json", tokenizer));
  return write_file(folder / "config.json", config.dump(2) + "\n");
}

}  // namespace mtmc::lm
