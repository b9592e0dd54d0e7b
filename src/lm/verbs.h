// What mtmc-lm does: each verb answers lines of JSON with lines of JSON until its input ends.
#pragma once
#include <string>

#include "base/result.h"

namespace mtmc::lm {

struct VerbOptions {
  std::string model;    // a Hugging Face folder or a GGUF file; for `tokenize` also a tokenizer.json
  std::string adapter;  // a folder in PEFT's layout, or ""
  std::string device = "cpu", dtype = "fp32";  // dtype: auto, too
};

Status tokenize_lines(const VerbOptions& options);
Status score_lines(const VerbOptions& options);
Status generate_lines(const VerbOptions& options);
Status logits_lines(const VerbOptions& options);

}  // namespace mtmc::lm
