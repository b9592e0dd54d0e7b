#include "base/check.h"

namespace mtmc {

void report_bug(const char* file, int line, const char* condition, const std::string& detail) {
  std::string path = file;
  const auto cut = path.rfind("src/");
  if (cut != std::string::npos) path = path.substr(cut);
  throw Bug(path + ":" + std::to_string(line) + ": check failed: " + condition + (detail.empty() ? "" : "\n" + detail));
}

}  // namespace mtmc
