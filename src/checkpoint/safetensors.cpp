#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "checkpoint/stored.h"

namespace mtmc {
namespace {

// One entry of the header; `data` is what follows the header.
Result<StoredTensor> read_entry(const Json& entry, std::span<const std::byte> data) {
  const auto wrong = [&](const std::string& what, const std::string& wanted) {
    return Error{"", what, entry.dump(), wanted};
  };
  static const std::map<std::string, StoredType> types = {
      {"F32", StoredType::f32}, {"F16", StoredType::f16}, {"BF16", StoredType::bf16}};
  const auto type = types.find(entry.at("dtype").get<std::string>());
  if (type == types.end()) return wrong("unknown dtype", "F32, F16 or BF16");
  StoredTensor tensor{type->second, entry.at("shape").get<std::vector<int64_t>>(), {}, nullptr, 0};
  int64_t count = 1;
  for (const int64_t size : tensor.shape)
    if (size < 0 || __builtin_mul_overflow(count, size, &count)) return wrong("impossible shape", "");
  const auto ends = entry.at("data_offsets").get<std::array<uint64_t, 2>>();
  if (ends[0] > ends[1] || ends[1] > data.size())
    return wrong("the file is truncated", fmt::format("offsets within its {} bytes of data", data.size()));
  if (stored_bytes(tensor.type, count) != static_cast<int64_t>(ends[1] - ends[0]))
    return wrong("shape and offsets disagree", fmt::format("{} bytes", stored_bytes(tensor.type, count)));
  tensor.bytes = data.subspan(ends[0], ends[1] - ends[0]);
  return tensor;
}

}  // namespace

Result<SafetensorsFile> open_safetensors(const std::filesystem::path& path) {
  const std::string reading = "reading " + path.string();
  MTMC_TRY(const auto file, MappedFile::open(path));
  const auto bytes = file->bytes();
  uint64_t size = 0;
  if (bytes.size() >= 8) std::memcpy(&size, bytes.data(), 8);
  if (bytes.size() < 8 || size > bytes.size() - 8)
    return Error{reading, "the file is truncated, or no safetensors", fmt::format("{} bytes", bytes.size()),
                 fmt::format("a header of {} bytes", size)};
  const auto* text = reinterpret_cast<const char*>(bytes.data()) + 8;
  const Json header = Json::parse(text, text + size, nullptr, false);
  if (!header.is_object()) return Error{reading, "the header is not JSON", "", "a safetensors file"};
  SafetensorsFile found;
  try {
    for (const auto& [name, entry] : header.items()) {
      if (name == "__metadata__") {
        found.metadata = entry.get<std::map<std::string, std::string>>();
        continue;
      }
      auto tensor = read_entry(entry, bytes.subspan(8 + size));
      if (!tensor.ok()) {
        Error error = tensor.error();
        error.doing = reading + ", " + name;
        return error;
      }
      tensor->file = file;
      found.tensors.emplace(name, std::move(*tensor));
    }
  } catch (const Json::exception& error) {
    return Error{reading, error.what(), "", "a safetensors file"};
  }
  return found;
}

Status write_safetensors(const std::filesystem::path& path, const std::map<std::string, FloatTensor>& tensors,
                         const std::map<std::string, std::string>& metadata) {
  Json header = {{"__metadata__", metadata}};
  std::string data;
  for (const auto& [name, tensor] : tensors) {
    const size_t begin = data.size();
    data.append(reinterpret_cast<const char*>(tensor.numbers.data()), tensor.numbers.size() * sizeof(float));
    header[name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {begin, data.size()}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint64_t size = text.size();
  std::string all(reinterpret_cast<const char*>(&size), 8);
  return write_file(path, all + text + data);
}

}  // namespace mtmc
