#include "lm/policy_config.h"

#include <nlohmann/json.hpp>

#include "base/file.h"

namespace mtmc::lm {

namespace {

constexpr const char* kKept = "mtmc.json";

}  // namespace

Json to_json(const PolicyConfig& config) {
  Json json = {{"scores", to_string(config.scores)},
               {"context", config.context},
               {"prior", config.prior.weight},
               {"voice", config.prior.voice}};
  if (!config.view.empty()) json["view"] = config.view;
  return json;
}

Result<PolicyConfig> kept_policy_config(const std::filesystem::path& policy) {
  PolicyConfig config;
  const std::filesystem::path file = policy / kKept;
  if (!std::filesystem::is_directory(policy) || !std::filesystem::exists(file)) return config;
  MTMC_TRY(const std::string text, read_file(file));
  const Error wrong{"reading " + file.string(), "it does not say how the policy reads and scores", text.substr(0, 80),
                    to_json(config).dump()};
  try {
    const Json json = Json::parse(text);
    MTMC_TRY(config.scores, score_mode(json.at("scores")));
    config.view = json.value("view", config.view), config.context = json.value("context", config.context);
    config.prior = {json.value("prior", config.prior.weight), json.value("voice", config.prior.voice)};
  } catch (const Json::exception&) {
    return wrong;
  }
  if (!(config.view.empty() || config.view == "code" || config.view == "program") || config.context < 1 ||
      !(config.prior.weight >= 0) || !(config.prior.voice > 0))
    return wrong;
  return config;
}

Status keep_policy_config(const std::filesystem::path& folder, const PolicyConfig& config) {
  return write_file(folder / kKept, to_json(config).dump() + "\n");
}

}  // namespace mtmc::lm
