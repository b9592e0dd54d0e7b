// The paper's ablations of macro thinking (arXiv 2511.20100, Table 7): a large language model that improves a module as
// it sees fit.
#include "coder/llm.h"

namespace mtmc {
namespace {

constexpr int kAnswers = 64;  // that may be asked for at one state

}  // namespace

UnguidedCoder::UnguidedCoder(std::string name, std::string type, LlmParts parts)
    : LlmCoder(std::move(parts)), name_(std::move(name)), type_(std::move(type)) {}

Result<std::vector<Proposal>> UnguidedCoder::proposals(const CodeState& state, const std::vector<Proposal>& legal) {
  return numbered(type_, "answer", kAnswers, state, legal);
}

extern const CoderDef free_def;
const CoderDef free_def{"free", "a large language model that does what it likes, without actions: --model", "",
                        [](const CoderContext& context) -> Result<std::unique_ptr<Coder>> {
                          MTMC_TRY(LlmParts parts, llm_parts(context));
                          return std::make_unique<UnguidedCoder>("free", "rewrite", std::move(parts));
                        },
                        /*asks_model=*/true};

}  // namespace mtmc
