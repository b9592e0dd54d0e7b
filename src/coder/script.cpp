#include "coder/script.h"

#include <fmt/core.h>

#include "base/text.h"
#include "coder/answer.h"

namespace mtmc {
namespace {

constexpr const char* kSystem =
    "You write Triton kernels, and the Python functions that launch them on PyTorch tensors. What you write is "
    "imported "
    "by tests that you do not see: they call the functions that the instruction names, with the arguments that it "
    "names. Answer with the whole file in one Python block: all imports, no tests, no examples. It imports only torch, "
    "triton, numpy and the standard library.";

}  // namespace

Result<Implementation> ScriptCoder::write(const std::string& instruction) {
  ChatRequest asked{.system = kSystem, .messages = {{Speaker::user, instruction}}};
  asked.answer_tokens = options().answer_tokens;
  Bill bill;
  for (int repair = 0;; ++repair) {
    MTMC_TRY(const ChatReply answer, whole_answer(asked, bill));
    if (answer.stop == Stop::refused) return Error{"reading the answer", "the model would not answer", "", ""};
    Result<std::string> code = script_of(answer.text);
    const Status usable = code.ok() ? check_code(*code, CodeKind::script) : Status(code.error());
    if (usable.ok()) return Implementation{nullptr, Code{.text = std::move(*code)}, bill.note(client().model().name)};
    if (repair >= options().repairs || answer.stop != Stop::end) return usable.error();
    asked.messages.push_back({Speaker::assistant, trim(answer.text).empty() ? "(nothing)" : answer.text});
    asked.messages.push_back({Speaker::user, fmt::format("This cannot be used: {}. Answer with the whole file in one "
                                                         "Python block.",
                                                         usable.error().message())});
  }
}

}  // namespace mtmc
