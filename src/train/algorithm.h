// How a policy learns. To add a way: src/train/algorithms/NAME.cpp defining `extern const AlgorithmDef NAME_def`; a
// generated table finds it, and its settings become options of `mtmc train NAME`.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "train/lesson.h"

namespace mtmc::train {

// What is told of an update, in this order.
using Metrics = std::vector<std::pair<std::string, double>>;

class Algorithm {
 public:
  virtual ~Algorithm() = default;
  // Update `number`, from 0. It may depend on nothing but the lesson, the number and `state`.
  virtual Result<Metrics> update(int64_t number) = 0;
  // What it trains beside the policy, by name, to be kept and copied into.
  virtual Tensors state() const { return {}; }
};

struct Setting {
  const char* name;
  double value;  // by default
  const char* doc;
};

struct AlgorithmDef {
  std::string_view name, doc;
  std::vector<Setting> settings;
  // An Error for settings that make no sense. The lesson outlives it.
  Result<std::unique_ptr<Algorithm>> (*make)(Lesson& lesson);
};

const AlgorithmDef* find_algorithm(std::string_view name);
std::vector<const AlgorithmDef*> all_algorithms();

}  // namespace mtmc::train
