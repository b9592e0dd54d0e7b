// What a language model's answer holds: finding the code in it, and what can be said of that code without running it.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"
#include "llm/protocol.h"

namespace mtmc {

// An answer without what stands between <think> and </think>.
std::string without_thoughts(std::string_view answer);

// Whether an answer broke off in the middle: its limit was reached, or a fence was never closed.
bool cut_short(std::string_view answer, Stop stop);
// An answer and how it goes on: a fence that is opened anew, and lines that are said twice, are left out.
std::string joined(std::string answer, std::string_view more);

// The whole kernel file that an answer stands for. Looked for in this order: the last fenced block that defines
// ModelNew (with the Python blocks before it, where it does not import torch itself), unless it quotes `before` and a
// diff stands beside it; diffs, applied to `before`, of one block or several; an answer that is nothing but code. What
// is thought between <think> and </think> is not part of it. An Error says why there is none.
Result<std::string> code_of(std::string_view answer, std::string_view before);

// A file that need not define ModelNew: the last Python block, or an answer that is nothing but code.
Result<std::string> script_of(std::string_view answer);

// `before` with the hunks of a diff: a unified one, with line numbers or bare "@@", or OpenAI's "*** Begin Patch".
// Places are found by their lines; line numbers only choose among equals. An Error names the hunk that fits nowhere.
Result<std::string> apply_diff(std::string_view before, std::string_view diff);

// It parses, defines ModelNew (a `script` need not) and imports only what a kernel file may
// (python/mtmc/answer/check.py). An Error says what is wrong with it.
enum class CodeKind { kernel, script };
Status check_code(const std::string& code, CodeKind kind = CodeKind::kernel);

}  // namespace mtmc
