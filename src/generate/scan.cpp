#include "generate/scan.h"

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "generate/python.h"

namespace mtmc {

namespace fs = std::filesystem;

Result<Fingerprints> fingerprints(const std::vector<fs::path>& paths) {
  constexpr const char* kDoing = "scanning task files";
  std::error_code code;
  Json request = {{"paths", Json::array()}};
  for (const fs::path& path : paths) {
    if (!fs::exists(path, code)) return Error{kDoing, "no such file or folder", "'" + path.string() + "'", ""};
    request["paths"].push_back(path.string());
  }
  MTMC_TRY(const Json report, ask_python(kDoing, "mtmc.scan.scan", request));
  Fingerprints found;
  for (const auto& [file, print] : report.at("files").items())
    found[file] = {print.at("syntax"), print.at("graphs"), print.at("unread")};
  return found;
}

std::vector<Match> matches(const Fingerprints& files, const Fingerprints& others) {
  std::map<std::string, std::string> by_graph, by_syntax;
  for (const auto& [file, print] : others) {
    for (const std::string& hash : print.graphs) by_graph.emplace(hash, file);
    for (const std::string& hash : print.syntax) by_syntax.emplace(hash, file);
  }
  const auto first = [](const std::vector<std::string>& hashes, const auto& by) -> std::string {
    for (const std::string& hash : hashes)
      if (const auto at = by.find(hash); at != by.end()) return at->second;
    return "";
  };
  std::vector<Match> found;
  for (const auto& [file, print] : files) {
    const std::string graph = first(print.graphs, by_graph), syntax = first(print.syntax, by_syntax);
    if (!graph.empty())
      found.push_back({file, graph, "operators"});
    else if (!syntax.empty())
      found.push_back({file, syntax, "syntax"});
  }
  return found;
}

}  // namespace mtmc
