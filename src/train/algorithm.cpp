#include "train/algorithm.h"

#include <iterator>

#include "train_algorithms.h"

namespace mtmc::train {

const AlgorithmDef* find_algorithm(std::string_view name) {
  for (const AlgorithmDef* def : kAlgorithms)
    if (def->name == name) return def;
  return nullptr;
}

std::vector<const AlgorithmDef*> all_algorithms() { return {std::begin(kAlgorithms), std::end(kAlgorithms)}; }

}  // namespace mtmc::train
