// Content hashes: names of things on disk. SHA-256 (FIPS 180-4), hex.
#pragma once
#include <string>
#include <string_view>

namespace mtmc {

// 64 hex digits of SHA-256.
std::string sha256(std::string_view data);
// The first `digits` hex digits: short names for folders and nodes.
inline std::string short_hash(std::string_view data, int digits = 16) { return sha256(data).substr(0, digits); }

}  // namespace mtmc
