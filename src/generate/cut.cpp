#include "generate/cut.h"

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "generate/python.h"

namespace mtmc {

Result<CutTasks> cut_tasks(const CutRequest& request) {
  constexpr const char* kDoing = "cutting subgraphs";
  std::error_code code;
  if (!std::filesystem::is_directory(request.graphnet / "samples", code))
    return Error{kDoing, "no samples in this folder", "'" + request.graphnet.string() + "'",
                 "a checkout of github.com/PaddlePaddle/GraphNet"};
  Fingerprints others;
  if (!request.against.empty()) {
    MTMC_TRY(others, fingerprints(request.against));
  }
  Json graphs = Json::object(), syntax = Json::object();
  for (const auto& [file, print] : others) {
    for (const std::string& hash : print.graphs) graphs[hash] = file;
    for (const std::string& hash : print.syntax) syntax[hash] = file;
  }
  const Json asked = {{"graphnet", request.graphnet.string()},
                      {"out", request.out.string()},
                      {"seed", request.seed},
                      {"count", request.count},
                      {"large", !request.small},
                      {"graphs", graphs},
                      {"syntax", syntax}};
  MTMC_TRY(const Json report, ask_python(kDoing, "mtmc.cut.cut", asked));
  CutTasks done;
  done.written = static_cast<int>(report.at("written").size());
  done.samples = report.at("samples");
  done.refused = report.at("refused").get<std::map<std::string, int>>();
  for (const Json& one : report.at("left_out")) done.left_out.push_back({one.at(0), one.at(1), one.at(2)});
  return done;
}

}  // namespace mtmc
