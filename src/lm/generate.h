// Text that goes on, token by token.
#pragma once
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "lm/model.h"

namespace mtmc::lm {

struct GenerateRequest {
  std::vector<TokenId> prompt;
  int64_t tokens = 64;
  double temperature = 0;  // 0: the likeliest token each time
};

struct Generated {
  std::vector<TokenId> tokens;  // without the end token
  bool ended = false;           // by the model's end token, not for want of room
};

// An Error for an empty prompt, and for one that leaves no room in the context.
Result<Generated> generate(const Model& model, const GenerateRequest& request, Rng& rng);

}  // namespace mtmc::lm
