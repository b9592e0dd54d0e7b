// A kind of generated task: how blocks are put together. To add one: src/generate/kinds/NAME.cpp defining
// `extern const KindDef NAME_def`; a generated table finds it.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "generate/module_text.h"

namespace mtmc {

struct KindDef {
  std::string_view name, doc;
  double least = 1e-5, most = 5e-3;  // seconds that its large tasks should take a large GPU
  // False: nothing came of this draw.
  bool (*write)(ModuleText& text) = nullptr;
};

const KindDef* find_kind(std::string_view name);
std::vector<const KindDef*> all_kinds();

struct GeneratedTask {
  std::string name;  // "subgraph_0017"
  std::string text;
  double seconds = 0;  // estimated, on a large GPU
};

// The tasks of one kind and seed, one after the other, all different: they depend on nothing else, so that a longer
// list begins with a shorter one.
class TaskSource {
 public:
  TaskSource(const KindDef& kind, TaskSize size, uint64_t seed) : kind_(kind), size_(size), seed_(seed) {}
  GeneratedTask next();

 private:
  const KindDef& kind_;
  TaskSize size_;
  uint64_t seed_, drawn_ = 0;
  int made_ = 0;
  std::set<std::string> keys_;
};

}  // namespace mtmc
