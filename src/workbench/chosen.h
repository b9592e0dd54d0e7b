// How a plug-in is named on the command line: "greedy", or "lm:policies/small" with an argument of its own.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/text.h"

namespace mtmc {

template <typename Def>
struct Chosen {
  const Def* def = nullptr;
  std::string argument;
};

// How it is written: "greedy", "lm:FOLDER".
template <typename Def>
std::string word_of(const Def& def) {
  return std::string(def.name) + (def.argument.empty() ? "" : ":" + std::string(def.argument));
}

// `what`: "a policy". An Error: no definition has that name, it takes no argument, or lacks the one that it needs.
template <typename Def>
Result<Chosen<Def>> chosen(const std::string& what, const std::string& word, const std::vector<const Def*>& all) {
  const size_t colon = word.find(':');
  const std::string name = word.substr(0, colon), argument = colon == word.npos ? "" : word.substr(colon + 1);
  std::vector<std::string> names;
  for (const Def* def : all) {
    names.push_back(word_of(*def));
    if (def->name != name) continue;
    if (def->argument.empty() && colon != word.npos)
      return Error{"choosing " + what, name + " takes no argument", "'" + word + "'", name};
    if (!def->argument.empty() && argument.empty())
      return Error{"choosing " + what, name + " needs an argument", "'" + word + "'", names.back()};
    return Chosen<Def>{def, argument};
  }
  return Error{"choosing " + what, "there is no such one", "'" + word + "'", join(names, ", ")};
}

}  // namespace mtmc
