#include "targets/cpu/prelude.h"

#include <set>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace mtmc {
namespace {

constexpr const char* kText =
#include "targets/cpu/prelude.inc"
    ;

struct Section {
  std::string name, text;
  std::vector<std::string> provides;  // identifiers whose use pulls the section in
};

std::vector<std::string> provided_by(const std::string& name) {
  if (name == "arena") return {"tile_arena", "kernel_arena", "Arena"};
  if (name == "hsum") return {"hsum", "hsum_int"};
  if (name == "minmax") return {"max", "min", "hmax", "hmin"};
  if (name == "scan") return {"scan_sum", "scan_prod"};
  if (name == "integer") return {"floor_div", "floor_mod", "floor_div_lanes", "floor_mod_lanes"};
  if (name == "lanewise")
    return {"exp2", "log2", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "pow", "atan2", "fmod"};
  if (name == "rounding") return {"floor", "ceil", "nearbyint", "trunc"};
  if (name == "arg") return {"Best"};
  return {name};
}

std::vector<Section> sections() {
  std::vector<Section> result;
  for (const std::string& line : split(kText, '\n')) {
    if (line.rfind("//@ ", 0) == 0) {
      Section section;
      section.name = std::string(trim(line.substr(4)));
      section.provides = provided_by(section.name);
      result.push_back(std::move(section));
    } else if (!result.empty()) {
      result.back().text += line + "\n";
    }
  }
  return result;
}

std::set<std::string> identifiers(std::string_view code) {
  std::set<std::string> found;
  std::string current;
  for (char c : code) {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      current += c;
    } else if (!current.empty()) {
      found.insert(std::move(current));
      current.clear();
    }
  }
  return found;
}

}  // namespace

std::string cpu_prelude(const std::string& code) {
  const std::vector<Section> all = sections();
  std::set<std::string> used = identifiers(code);
  std::set<std::string> included = {"core"};
  for (bool changed = true; changed;) {
    changed = false;
    for (const Section& section : all) {
      if (included.count(section.name)) continue;
      for (const std::string& word : section.provides) {
        if (!used.count(word)) continue;
        included.insert(section.name);
        used.merge(identifiers(section.text));
        changed = true;
        break;
      }
    }
  }
  std::string text;
  for (const Section& section : all)
    if (included.count(section.name)) text += section.text;
  return text;
}

}  // namespace mtmc
