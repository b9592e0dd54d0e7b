#include "coder/llm.h"

namespace mtmc {

extern const CoderDef single_pass_def;
const CoderDef single_pass_def{"single_pass", "a large language model that takes all actions at once: --model", "",
                               [](const CoderContext& context) -> Result<std::unique_ptr<Coder>> {
                                 MTMC_TRY(LlmParts parts, llm_parts(context));
                                 return std::make_unique<UnguidedCoder>("single_pass", "everything", std::move(parts));
                               },
                               /*asks_model=*/true};

}  // namespace mtmc
