#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "checkpoint/stored.h"

namespace mtmc {
namespace {

struct Truncated {};  // thrown by Reader, caught in open_gguf

// The types of values, by GGUF's numbers.
enum : uint32_t { kString = 8, kArray = 9 };

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  size_t at() const { return at_; }

  template <typename T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }
  std::string text() {
    const auto size = number<uint64_t>();
    return {reinterpret_cast<const char*>(take(size)), size};
  }
  Json value(uint32_t type, int depth = 0) {
    switch (type) {
      case 0: return number<uint8_t>();
      case 1: return number<int8_t>();
      case 2: return number<uint16_t>();
      case 3: return number<int16_t>();
      case 4: return number<uint32_t>();
      case 5: return number<int32_t>();
      case 6: return number<float>();
      case 7: return number<uint8_t>() != 0;
      case kString: return text();
      case kArray: return array(depth);
      case 10: return number<uint64_t>();
      case 11: return number<int64_t>();
      case 12: return number<double>();
      default: throw Truncated{};
    }
  }

 private:
  Json array(int depth) {
    const auto type = number<uint32_t>();
    const auto count = number<uint64_t>();
    if (depth > 2 || count > bytes_.size() - at_) throw Truncated{};  // an element has a byte at least
    Json values = Json::array();
    for (uint64_t i = 0; i < count; ++i) values.push_back(value(type, depth + 1));
    return values;
  }
  const std::byte* take(uint64_t size) {
    if (size > bytes_.size() - at_) throw Truncated{};
    at_ += size;
    return bytes_.data() + at_ - size;
  }

  std::span<const std::byte> bytes_;
  size_t at_ = 0;
};

struct Entry {
  std::string name;
  std::vector<int64_t> shape;
  uint32_t type = 0;
  uint64_t offset = 0;
};

Entry read_entry(Reader& reader) {
  Entry entry;
  entry.name = reader.text();
  const auto axes = reader.number<uint32_t>();
  if (axes > 4) throw Truncated{};
  for (uint32_t i = 0; i < axes; ++i) entry.shape.insert(entry.shape.begin(), reader.number<int64_t>());
  entry.type = reader.number<uint32_t>();
  entry.offset = reader.number<uint64_t>();
  return entry;
}

Result<StoredTensor> place(const Entry& entry, std::span<const std::byte> data) {
  static const std::map<uint32_t, StoredType> types = {
      {0, StoredType::f32}, {1, StoredType::f16}, {3, StoredType::q4_1}, {8, StoredType::q8_0}, {30, StoredType::bf16}};
  const auto type = types.find(entry.type);
  if (type == types.end())
    return Error{"", entry.name + " has an unknown type", fmt::format("GGML's type {}", entry.type),
                 "F32, F16, BF16, Q8_0 or Q4_1"};
  StoredTensor tensor{type->second, entry.shape, {}, nullptr, 0};
  int64_t count = 1;
  for (const int64_t size : entry.shape)
    if (size < 0 || __builtin_mul_overflow(count, size, &count)) throw Truncated{};
  const int64_t size = count > (int64_t{1} << 56) ? -1 : stored_bytes(tensor.type, count);
  if (size < 0) return Error{"", entry.name + " does not fill whole blocks", fmt::format("{} numbers", count), ""};
  if (entry.offset > data.size() || static_cast<uint64_t>(size) > data.size() - entry.offset) throw Truncated{};
  tensor.bytes = data.subspan(entry.offset, static_cast<size_t>(size));
  return tensor;
}

Result<GgufFile> read(const std::shared_ptr<const MappedFile>& file) {
  const auto bytes = file->bytes();
  Reader reader(bytes);
  if (bytes.size() < 4 || std::memcmp(bytes.data(), "GGUF", 4) != 0) return Error{"", "not a GGUF file", "", ""};
  reader.number<uint32_t>();
  const auto version = reader.number<uint32_t>();
  if (version != 2 && version != 3) return Error{"", "unknown version", std::to_string(version), "2 or 3"};
  const auto tensors = reader.number<uint64_t>(), keys = reader.number<uint64_t>();
  GgufFile found;
  Json metadata = Json::object();
  for (uint64_t i = 0; i < keys; ++i) {
    const std::string key = reader.text();
    metadata[key] = reader.value(reader.number<uint32_t>());
  }
  std::vector<Entry> entries;
  for (uint64_t i = 0; i < tensors; ++i) entries.push_back(read_entry(reader));
  const uint64_t step = metadata.value("general.alignment", uint64_t{32});
  const uint64_t begin = step == 0 ? 0 : (reader.at() + step - 1) / step * step;
  if (begin == 0 || begin > bytes.size()) throw Truncated{};
  for (const Entry& entry : entries) {
    MTMC_TRY(StoredTensor tensor, place(entry, bytes.subspan(begin)));
    tensor.file = file;
    found.tensors.emplace(entry.name, std::move(tensor));
  }
  found.metadata = std::make_shared<const Json>(std::move(metadata));
  return found;
}

}  // namespace

Result<GgufFile> open_gguf(const std::filesystem::path& path) {
  MTMC_TRY(const auto file, MappedFile::open(path));
  Error error;
  try {
    auto found = read(file);
    if (found.ok()) return found;
    error = found.error();
  } catch (const Truncated&) {
    error = {"", "the file is truncated or damaged", fmt::format("{} bytes", file->bytes().size()), ""};
  } catch (const Json::exception& wrong) {
    error.wrong = wrong.what();
  }
  error.doing = "reading " + path.string();
  return error;
}

}  // namespace mtmc
