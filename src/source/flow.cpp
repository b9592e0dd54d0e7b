#include "source/flow.h"

#include <map>

namespace mtmc {

std::vector<std::pair<int, int>> producer_consumer_pairs(const std::vector<SourceStep>& steps) {
  const int count = static_cast<int>(steps.size());
  std::map<std::string, std::set<int>> makers;  // variable -> the steps with ops whose results it may hold
  std::vector<std::set<int>> producers(count);
  for (int i = 0; i < count; ++i) {
    const SourceStep& step = steps[i];
    for (const std::string& variable : step.reads)
      if (const auto found = makers.find(variable); found != makers.end())
        producers[i].insert(found->second.begin(), found->second.end());
    const std::set<int> sources = step.ops.empty() ? producers[i] : std::set<int>{i};
    if (step.ops.empty()) producers[i].clear();
    for (const std::string& variable : step.writes) {
      std::set<int>& of = makers[variable];
      if (step.certain) of.clear();
      of.insert(sources.begin(), sources.end());
    }
  }
  std::vector<std::vector<bool>> needs(count, std::vector<bool>(count, false));  // needs[b][a]: directly or not
  for (int i = 0; i < count; ++i)
    for (int p : producers[i]) {
      needs[i][p] = true;
      for (int far = 0; far < p; ++far)
        if (needs[p][far]) needs[i][far] = true;
    }
  std::vector<std::pair<int, int>> pairs;
  for (int i = 0; i < count; ++i)
    for (int p : producers[i]) {
      bool direct = true;
      for (int between : producers[i]) direct = direct && !needs[between][p];
      if (direct) pairs.emplace_back(p, i);
    }
  return pairs;
}

}  // namespace mtmc
