#include "eval/judge_options.h"

#include <random>

#include "base/check.h"
#include "ir/hardware.h"

namespace mtmc {

std::string to_string(Accuracy accuracy) {
  switch (accuracy) {
    case Accuracy::eager: return "eager";
    case Accuracy::strict: return "strict";
    case Accuracy::tf32: return "tf32";
  }
  MTMC_CHECK(false, "an accuracy without a name");
}

Accuracy accuracy_named(std::string_view name) {
  for (const Accuracy accuracy : {Accuracy::eager, Accuracy::strict, Accuracy::tf32})
    if (to_string(accuracy) == name) return accuracy;
  MTMC_CHECK(false, "no accuracy of that name");
}

bool has_gpu() { return !gpus().empty(); }

std::string device_for(std::string_view candidate) {
  const bool written_for_it = candidate.find("triton") != candidate.npos || candidate.find("cuda") != candidate.npos;
  return has_gpu() && written_for_it ? "cuda" : "cpu";
}

uint64_t seed_or_any(uint64_t seed) {
  std::random_device device;
  return seed != 0 ? seed : (static_cast<uint64_t>(device()) << 31) ^ device();
}

std::string evaluator_of(const JudgeOptions& options) {
  std::string text = options.trusts ? kTrusting : kEvaluator;
  if (options.device != "cpu") text += ", on " + options.device;
  if (options.accuracy != Accuracy::eager) text += ", accuracy " + to_string(options.accuracy);
  if (options.freeze_weights) text += ", frozen weights";
  if (!options.measures_on) text += ", briefly";
  return text;
}

}  // namespace mtmc
