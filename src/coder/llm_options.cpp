#include "coder/llm_options.h"

#include "llm/client.h"

namespace mtmc {

Result<ClientParts> LlmAccess::client() const {
  MTMC_TRY(ModelFacts model, find_model(options.model, options.base_url));
  if (options.max_cost && !model.price)
    return Error{"asking a language model", "nobody knows what " + model.name + " costs", "--max-cost",
                 "its price in " + user_models_path().string()};
  MTMC_TRY(Key key, Key::find(model, options.key_file, keys));
  ClientParts parts{.model = std::move(model), .key = std::move(key)};
  parts.transport = transport;
  parts.limits.request_seconds = options.request_seconds, parts.limits.question_seconds = 3 * options.request_seconds;
  return parts;
}

}  // namespace mtmc
