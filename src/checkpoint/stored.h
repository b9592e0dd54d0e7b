// Tensors as they lie in a file that is mapped into memory: safetensors and GGUF.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace mtmc {

// A file's bytes, mapped read-only.
class MappedFile {
 public:
  static Result<std::shared_ptr<const MappedFile>> open(const std::filesystem::path& path);
  MappedFile(const std::byte* data, size_t size) : data_(data), size_(size) {}
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_;
  size_t size_;
};

// f32, f16 and bf16 are plain numbers. q8_0: blocks of 32 as an f16 scale and int8. q4_1: blocks of 32 as f16 scale,
// f16 least value and 4 bits each, the low halves of the bytes first (GGUF's specification).
enum class StoredType { f32, f16, bf16, q8_0, q4_1 };

struct StoredTensor {
  StoredType type = StoredType::f32;
  std::vector<int64_t> shape;  // as torch says it: the last axis is contiguous
  std::span<const std::byte> bytes;
  std::shared_ptr<const MappedFile> file;
  // Rows lie in this many heads whose rotary pairs are neighbours, as llama.cpp wants them; 0: halves, as in Hugging
  // Face's.
  int64_t paired_heads = 0;

  int64_t count() const;
};

// The bytes of `count` numbers, or -1 when they do not fill whole blocks.
int64_t stored_bytes(StoredType type, int64_t count);
// All numbers as fp32, in the file's order; `out` has tensor.count() places.
void read_floats(const StoredTensor& tensor, std::span<float> out);

using StoredTensors = std::map<std::string, StoredTensor>;

struct SafetensorsFile {
  StoredTensors tensors;
  std::map<std::string, std::string> metadata;
};
// https://huggingface.co/docs/safetensors: a JSON header and the tensors' bytes.
Result<SafetensorsFile> open_safetensors(const std::filesystem::path& path);
// Writes fp32 tensors; `tensors` name -> (shape, numbers).
struct FloatTensor {
  std::vector<int64_t> shape;
  std::vector<float> numbers;
};
Status write_safetensors(const std::filesystem::path& path, const std::map<std::string, FloatTensor>& tensors,
                         const std::map<std::string, std::string>& metadata);

struct GgufFile {
  std::shared_ptr<const Json> metadata;  // an object: key -> value
  StoredTensors tensors;
};
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, versions 2 and 3, little-endian.
Result<GgufFile> open_gguf(const std::filesystem::path& path);

}  // namespace mtmc
