#include "coder/coder.h"

#include "coder_coders.h"

namespace mtmc {

const CoderDef* find_coder(std::string_view name) {
  for (const CoderDef* def : kCoders)
    if (def->name == name) return def;
  return nullptr;
}

std::vector<const CoderDef*> all_coders() { return {std::begin(kCoders), std::end(kCoders)}; }

}  // namespace mtmc
