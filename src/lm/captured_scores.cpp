#include "lm/captured_scores.h"

#include <c10/core/GradMode.h>
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstdio>

#include "base/check.h"

namespace mtmc::lm {
namespace {

using at::Tensor;

constexpr size_t kMostSizes = 32;
constexpr int64_t kFiller = 8;        // tokens of the second prompt, and of its actions, at least
constexpr int64_t kLeastTokens = 64;  // of a prompt, or of all actions
constexpr uint64_t kLeastActions = 16;
constexpr int64_t kMostTokens = 8192;  // tokens of a row
constexpr int64_t kMostInOneProduct = 4096;

// The next of 64, 80, 96, 112, 128, 160, ...: at most a quarter is filled up.
int64_t filled_up(int64_t tokens) {
  if (tokens <= kLeastTokens) return kLeastTokens;
  const auto step = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(tokens - 1))) / 4;
  return (tokens + step - 1) / step * step;
}

int64_t inputs_of_actions(const Prompt& prompt) {
  int64_t tokens = 0;
  for (const Candidate& action : prompt.actions) tokens += inputs_of(action);
  return tokens;
}

bool is_masked(const Model& model) {
  return !has_packed_kernels(model.placement().device, model.placement().dtype, model.config().head_width);
}

// What is missing: its first action has all the tokens, and those behind it none.
Prompt filler(const Prompt& prompt, const RowSizes& sizes) {
  Prompt more;
  more.tokens.assign(static_cast<size_t>(sizes.prompt_tokens) - prompt.tokens.size(), 0);
  more.actions.assign(static_cast<size_t>(sizes.actions) - prompt.actions.size(), Candidate{.tokens = {0}});
  more.actions[0].tokens.resize(static_cast<size_t>(sizes.action_tokens - inputs_of_actions(prompt)) + 1);
  return more;
}

// On the host. All rows of these sizes have tensors of the same shapes, and the same bounds for which kernels are
// launched.
ScoredRow filled_row(const Model& model, const Prompt& prompt, const RowSizes& sizes, ScoreMode mode) {
  const Prompt more = filler(prompt, sizes);
  ScoredRow made({&prompt, &more}, mode, at::kCPU);
  Packing& packing = made.row.packing;
  packing.longest_prompt = sizes.prompt_tokens;
  packing.longest_decision = packing.longest_action = sizes.action_tokens;
  packing.masked = is_masked(model);
  return made;
}

// `kept` gets what `fresh` holds, in its own memory.
void take(ScoredRow& kept, ScoredRow fresh) {
  const auto mine = kept.tensors(), theirs = fresh.tensors();
  for (size_t i = 0; i < mine.size(); ++i) *theirs[i] = mine[i]->copy_(*theirs[i]);
  kept = std::move(fresh);
}

}  // namespace

RowSizes::RowSizes(const Prompt& prompt)
    : prompt_tokens(filled_up(static_cast<int64_t>(prompt.tokens.size())) + kFiller),
      action_tokens(filled_up(inputs_of_actions(prompt)) + kFiller),
      actions(static_cast<int64_t>(std::bit_ceil(std::max<uint64_t>(prompt.actions.size(), kLeastActions))) + 1) {}

bool CapturedScores::takes(const Model& model, const Prompt& prompt) {
  const RowSizes sizes(prompt);
  return sizes.prompt_tokens + sizes.action_tokens <= (is_masked(model) ? kMostInOneProduct : kMostTokens);
}

Tensor CapturedScores::score(const Model& model, const Prompt& prompt, ScoreMode mode) {
  MTMC_CHECK(takes(model, prompt), "a row that is not too long");
  const at::AutoGradMode no_grad(false);
  if (const uint64_t version = model.weight_version(); version != version_) {
    kept_.clear();
    version_ = version;
  }
  const RowSizes sizes(prompt);
  const auto count = static_cast<int64_t>(prompt.actions.size());
  ScoredRow fresh = filled_row(model, prompt, sizes, mode);
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) { return kept.sizes == sizes; });
  if (found == kept_.end()) {  // most sizes of a search come back, but one that does not is not worth a capture
    for (Tensor* tensor : fresh.tensors()) *tensor = tensor->to(model.placement().device);
    kept_.push_front({sizes, std::move(fresh), {}, nullptr});
    if (kept_.size() > kMostSizes) kept_.pop_back();
    return kept_.front().row.scores(model, true).narrow(0, 0, count);
  }
  kept_.splice(kept_.begin(), kept_, found);
  Kept& kept = kept_.front();
  take(kept.row, std::move(fresh));
  if (kept.graph == nullptr && model.placement().device.is_cuda() && wrong_.empty()) try_to_capture(model, kept);
  if (kept.graph == nullptr) return kept.row.scores(model, true).narrow(0, 0, count);
  kept.graph->replay();
  return kept.scores.narrow(0, 0, count).clone();  // the next replay writes there
}

void CapturedScores::try_to_capture(const Model& model, Kept& kept) {
  auto graph = capture(model.placement().device, [&] { kept.scores = kept.row.scores(model, true); });
  if (graph.ok()) {
    kept.graph = std::move(*graph);
  } else {
    wrong_ = graph.error().message();
    fmt::print(stderr, "mtmc-lm: scores are computed launch by launch: {}\n", wrong_);
  }
}

size_t CapturedScores::captured() const {
  return static_cast<size_t>(
      std::count_if(kept_.begin(), kept_.end(), [](const Kept& kept) { return kept.graph != nullptr; }));
}

}  // namespace mtmc::lm
