#include "report/task_command.h"

#include <filesystem>
#include <nlohmann/json.hpp>

namespace mtmc {

namespace {

// Quoted for a shell where it has to be.
std::string shell_word(const std::string& word) {
  const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  if (!word.empty() && word.find_first_not_of(plain) == word.npos) return word;
  std::string quoted = "'";
  for (const char letter : word) quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return quoted + "'";
}

std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

std::string file_name(const Json& path) { return std::filesystem::path(path.get<std::string>()).filename().string(); }

// " --input A B"; empty where there are no words.
std::string option(const char* name, const std::vector<std::string>& words) {
  std::string text;
  bool listed = false;  // whether the last word was one of `--name A B`
  for (const std::string& word : words) {
    const bool dashed = word.starts_with("-");  // would be taken for an option
    text += dashed ? std::string(" ") + name + "=" : listed ? " " : std::string(" ") + name + " ";
    text += shell_word(word);
    listed = !dashed;
  }
  return text;
}

}  // namespace

TaskCommand task_command(const Json& task, const std::string& name) {
  if (!task.is_object()) return {name, ""};
  const auto known = [&](const char* key) { return task.contains(key) && !task[key].is_null(); };
  TaskCommand command{name, ""};
  const std::string attr = task.value("attr", "Model");
  if (known("file")) command.target = file_name(task["file"]) + (attr == "Model" ? "" : ":" + attr);
  if (known("module")) command.target = task["module"].get<std::string>() + ":" + attr;
  std::vector<std::string> init, inputs;
  if (known("init_args"))
    for (const Json& value : task["init_args"]) init.push_back(text_of(value));
  if (known("init_kwargs"))
    for (const auto& [key, value] : task["init_kwargs"].items()) init.push_back(key + "=" + text_of(value));
  if (known("inputs"))
    for (const Json& value : task["inputs"]) inputs.push_back(text_of(value));
  if (known("named_inputs"))
    for (const auto& [key, value] : task["named_inputs"].items()) inputs.push_back(key + "=" + text_of(value));
  command.options = option("--init", init) + option("--input", inputs);
  if (known("weights")) command.options += option("--weights", {file_name(task["weights"])});
  if (known("mode")) command.options += " --" + task["mode"].get<std::string>();
  return command;
}

}  // namespace mtmc
