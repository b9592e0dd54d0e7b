// The language models that can be named, how each is reached and what it costs: a table that ships with the program
// (src/llm/data/models.json), and the user's own, which wins: $MTMC_MODELS, else ~/.config/mtmc/models.json.
#pragma once
#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"

namespace mtmc {

// How a server is spoken to: OpenAI's chat completions, or Anthropic's messages.
enum class Protocol { chat, messages };

// USD for a million tokens.
struct Price {
  double input = 0, output = 0;
};

struct ModelFacts {
  std::string name;   // as the user says it
  std::string model;  // as the server calls it
  Protocol protocol = Protocol::chat;
  std::string url;  // "https://api.openai.com/v1": what the protocol's path is put behind
  std::string key;  // the environment variable that holds the key
  bool needs_key = true;
  std::string limit = "max_tokens";  // what the server calls the most tokens of an answer
  int most = 0;                      // the most tokens that it writes; 0: whatever it is asked for
  std::optional<Price> price;        // absent: nobody has said
};

// $MTMC_MODELS, which must be there, else models.json in $XDG_CONFIG_HOME/mtmc or ~/.config/mtmc.
std::filesystem::path user_models_path();
// `name` as either table has it, or any name with a `base_url`: a server that speaks chat completions and asks for no
// key unless $MTMC_LLM_KEY has one. With both, a known model behind another address. An Error: nobody knows the model,
// or the user's table cannot be read. Rows of one name are merged, the user's fields win.
Result<ModelFacts> find_model(const std::string& name, const std::string& base_url,
                              const std::filesystem::path& user_table = user_models_path());

// The environment variables that may hold a key, by both tables.
std::set<std::string> key_variables(const std::filesystem::path& user_table = user_models_path());

}  // namespace mtmc
