#include "checkpoint/stored.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>

namespace mtmc {
namespace {

constexpr int64_t kBlock = 32;

uint16_t half_bits(const std::byte* at) {
  uint16_t bits;
  std::memcpy(&bits, at, sizeof bits);
  return bits;
}

// IEEE half precision: g++ 12 has no _Float16 in C++.
float float_of_half(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t exponent = (half >> 10) & 0x1F, mantissa = half & 0x3FF;
  if (exponent == 0) {
    const float tiny = static_cast<float>(mantissa) * 0x1p-24f;
    return sign != 0 ? -tiny : tiny;
  }
  const uint32_t wide = exponent == 0x1F ? 0x7F800000u : (exponent + 112) << 23;
  return std::bit_cast<float>(sign | wide | mantissa << 13);
}

void read_q8_0(const std::byte* from, std::span<float> out) {
  for (size_t at = 0; at < out.size(); at += kBlock, from += 2 + kBlock) {
    const float scale = float_of_half(half_bits(from));
    for (size_t i = 0; i < kBlock; ++i) out[at + i] = scale * static_cast<float>(static_cast<int8_t>(from[2 + i]));
  }
}

void read_q4_1(const std::byte* from, std::span<float> out) {
  for (size_t at = 0; at < out.size(); at += kBlock, from += 4 + kBlock / 2) {
    const float scale = float_of_half(half_bits(from)), least = float_of_half(half_bits(from + 2));
    for (size_t i = 0; i < kBlock / 2; ++i) {
      const auto both = std::to_integer<unsigned>(from[4 + i]);
      out[at + i] = scale * static_cast<float>(both & 15) + least;
      out[at + i + kBlock / 2] = scale * static_cast<float>(both >> 4) + least;
    }
  }
}

}  // namespace

MappedFile::~MappedFile() { munmap(const_cast<std::byte*>(data_), size_); }

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::filesystem::path& path) {
  const auto failed = [&](const std::string& why) { return Error{"opening " + path.string(), why, "", ""}; };
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return failed(std::strerror(errno));
  struct stat status {};
  void* data = MAP_FAILED;
  if (fstat(file, &status) == 0 && status.st_size > 0)
    data = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  const int why = errno;
  close(file);
  if (data == MAP_FAILED) return failed(status.st_size == 0 ? "the file is empty" : std::strerror(why));
  return std::make_shared<const MappedFile>(static_cast<const std::byte*>(data), static_cast<size_t>(status.st_size));
}

int64_t StoredTensor::count() const {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return count;
}

int64_t stored_bytes(StoredType type, int64_t count) {
  switch (type) {
    case StoredType::f32: return 4 * count;
    case StoredType::f16:
    case StoredType::bf16: return 2 * count;
    case StoredType::q8_0: return count % kBlock == 0 ? count / kBlock * (2 + kBlock) : -1;
    case StoredType::q4_1: return count % kBlock == 0 ? count / kBlock * (4 + kBlock / 2) : -1;
  }
  MTMC_CHECK(false, "a stored type without a size");
}

void read_floats(const StoredTensor& tensor, std::span<float> out) {
  MTMC_CHECK(static_cast<int64_t>(out.size()) == tensor.count(), "as many places as numbers");
  const std::byte* from = tensor.bytes.data();
  switch (tensor.type) {
    case StoredType::f32: std::memcpy(out.data(), from, out.size_bytes()); return;
    case StoredType::f16:
      for (size_t i = 0; i < out.size(); ++i) out[i] = float_of_half(half_bits(from + 2 * i));
      return;
    case StoredType::bf16:
      for (size_t i = 0; i < out.size(); ++i)
        out[i] = std::bit_cast<float>(static_cast<uint32_t>(half_bits(from + 2 * i)) << 16);
      return;
    case StoredType::q8_0: return read_q8_0(from, out);
    case StoredType::q4_1: return read_q4_1(from, out);
  }
}

}  // namespace mtmc
