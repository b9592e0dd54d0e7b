#include "targets/shell_json.h"

#include <nlohmann/json.hpp>

#include "base/json.h"

namespace mtmc {

std::string to_json_text(const ModuleShell& shell) {
  return Json({{"constructor_source", shell.constructor_source},
               {"arguments", shell.arguments},
               {"opening", shell.opening},
               {"sources", shell.sources},
               {"outputs", shell.outputs},
               {"description", shell.description}})
      .dump();
}

Result<ModuleShell> shell_from_json_text(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  const Error broken{"reading a stored module shell", "not what this version writes", text.substr(0, 80), ""};
  if (!json.is_object()) return broken;
  ModuleShell shell;
  const auto read = [&json](const char* key, auto& value) {
    const auto found = json.find(key);
    if (found == json.end()) return false;
    found->get_to(value);
    return true;
  };
  const bool whole = read("constructor_source", shell.constructor_source) && read("arguments", shell.arguments) &&
                     read("opening", shell.opening) && read("sources", shell.sources) &&
                     read("outputs", shell.outputs) && read("description", shell.description);
  if (!whole) return broken;
  return shell;
}

}  // namespace mtmc
