#include "lm/generate.h"

#include <ATen/ops/matmul.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>

#include "lm/scoring.h"

namespace mtmc::lm {

Result<Generated> generate(const Model& model, const GenerateRequest& request, Rng& rng) {
  const at::AutoGradMode no_grad(false);
  const auto length = static_cast<int64_t>(request.prompt.size());
  if (length == 0 || length >= model.config().context)
    return Error{"generating text", length == 0 ? "the prompt has no tokens" : "the prompt is too long",
                 fmt::format("{} tokens", length), fmt::format("1 to {}", model.config().context - 1)};
  if (request.temperature < 0)
    return Error{"generating text", "a negative temperature", fmt::format("{}", request.temperature), "0 or more"};
  Generated generated;
  Understood known = understand(model, request.prompt);
  const int64_t room = std::min(request.tokens, model.config().context - length);
  while (static_cast<int64_t>(generated.tokens.size()) < room) {
    const at::Tensor logits = at::matmul(model.head(), known.last).to(at::kFloat);
    const int64_t token = request.temperature > 0 ? categorical(logits, request.temperature).sample(rng)
                                                  : logits.argmax().item<int64_t>();
    const auto& end = model.config().end;
    if (std::find(end.begin(), end.end(), static_cast<TokenId>(token)) != end.end()) {
      generated.ended = true;
      break;
    }
    generated.tokens.push_back(static_cast<TokenId>(token));
    std::vector<TokenId> longer = known.tokens;
    longer.push_back(static_cast<TokenId>(token));
    known = understand(model, longer, true, &known, known.past.length());
  }
  return generated;
}

}  // namespace mtmc::lm
