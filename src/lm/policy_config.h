// How a policy was trained to read and to score, which stands beside its weights in mtmc.json and holds wherever it is
// used: {"scores": "token", "view": "program", "context": 1024, "prior": 4, "voice": 0.1}. Where there is no such file,
// or the weights are a file themselves, all is as by default; so is what an older file does not say.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "lm/scoring.h"

namespace mtmc::lm {

struct PolicyConfig {
  ScoreMode scores = ScoreMode::sum;
  std::string view;        // what a prompt shows: code, or program; empty: nobody has said, and it is code
  int64_t context = 1024;  // tokens of a prompt, where the model takes as many
  Prior prior;             // of what the cost model expects of an action, and of the model, in its score
};

Json to_json(const PolicyConfig& config);
// `policy`: an adapter's folder, or a model. An Error for a file that says something else.
Result<PolicyConfig> kept_policy_config(const std::filesystem::path& policy);
Status keep_policy_config(const std::filesystem::path& folder, const PolicyConfig& config);

}  // namespace mtmc::lm
