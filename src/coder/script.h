// A whole script from an instruction in words, as suite G of TritonBench asks for it: no ModelNew, no Program, no step.
#pragma once
#include <string>
#include <utility>

#include "coder/llm.h"

namespace mtmc {

class ScriptCoder final : public LlmCoder {
 public:
  explicit ScriptCoder(LlmParts parts) : LlmCoder(std::move(parts)) {}
  std::string name() const override { return name_of("script"); }
  // What cannot be used is asked for again, with the reason, as often as a step may be repaired.
  Result<Implementation> write(const std::string& instruction);
};

}  // namespace mtmc
