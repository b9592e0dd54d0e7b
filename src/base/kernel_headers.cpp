#include "base/kernel_headers.h"

#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/process.h"
#include "base/variables.h"

namespace mtmc {

namespace {

constexpr const char* kHeaders =
    "#include <algorithm>\n#include <cmath>\n#include <cstdint>\n#include <cstdlib>\n#include <cstring>\n"
    "#if defined(__x86_64__)\n#include <immintrin.h>\n#endif\n";
constexpr double kSeconds = 60;

// What `-march=native` means here.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  std::string found;
  for (std::string line; std::getline(file, line) && !line.empty();) {
    if (line.starts_with("flags") || line.starts_with("model name")) found += line + "\n";
  }
  return found;
}

std::filesystem::path make_headers() {
  const std::string compiler = variable("CXX", "g++"), home = variable("HOME");
  const auto version = run({{compiler, "--version"}, {}, {}, kSeconds});
  if (home.empty() || !version.ok() || version->exit_code != 0) return {};
  const std::string key = short_hash(version->out + kKernelFlags + kHeaders + processor());
  const std::filesystem::path folder = std::filesystem::path(home) / ".cache/mtmc/headers" / key;
  const std::filesystem::path compiled = folder / "algorithm.gch";  // g++ looks for it before <algorithm> itself
  std::error_code failed;
  if (std::filesystem::exists(compiled, failed)) return folder;
  std::filesystem::create_directories(folder, failed);
  const std::filesystem::path stem = folder / std::to_string(getpid()), text = stem.string() + ".h",
                              made = stem.string() + ".new";
  if (!write_file(text, kHeaders).ok()) return {};
  std::vector<std::string> words = {compiler};
  for (const Json& flag : Json::parse(kKernelFlags)) words.push_back(flag);
  words.insert(words.end(), {"-x", "c++-header", text.string(), "-o", made.string()});
  const auto done = run({words, {}, {}, kSeconds});
  std::filesystem::remove(text, failed);
  if (!done.ok() || done->exit_code != 0) return {};
  std::filesystem::rename(made, compiled, failed);
  return failed ? std::filesystem::path() : folder;
}

}  // namespace

std::filesystem::path kernel_headers() {
  static const std::filesystem::path folder = make_headers();
  return folder;
}

std::string kernel_include_path() {
  const std::string before = variable("CPATH"), own = kernel_headers().string();
  return own.empty() || before.empty() ? own + before : own + ":" + before;
}

}  // namespace mtmc
