#include "cli/task_options.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "eval/process_judge.h"

namespace mtmc {

namespace {

constexpr const char* kDoing = "opening the task";

// "64", "0.5", "true", "[1, 2]", "null" are JSON, and so are Python's words for them; anything else is a string.
Json value_of(const std::string& word) {
  if (word == "True" || word == "False") return word == "True";
  if (word == "None") return nullptr;
  Json value = Json::parse(word, nullptr, false);
  return value.is_discarded() ? Json(word) : value;
}

bool is_identifier(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  return text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == text.npos;
}

// Arguments of a call: `64` is positional, `hidden=64` has a name.
void add_arguments(const std::vector<std::string>& words, const std::string& positional, const std::string& by_name,
                   Json& task) {
  if (words.empty()) return;
  task[positional] = Json::array();
  task[by_name] = Json::object();
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    if (equals != word.npos && is_identifier(word.substr(0, equals)))
      task[by_name][word.substr(0, equals)] = value_of(word.substr(equals + 1));
    else
      task[positional].push_back(value_of(word));
  }
}

// Sets file or module, attr and name.
Status locate(const std::string& target, Json& task) {
  namespace fs = std::filesystem;
  std::string place = target, attr;
  const size_t colon = target.rfind(':');
  if (colon != target.npos && is_identifier(target.substr(colon + 1)) && !fs::exists(target)) {
    place = target.substr(0, colon);
    attr = target.substr(colon + 1);
  }
  const bool is_file = place.ends_with(".py") || place.find('/') != place.npos || fs::exists(place);
  std::error_code code;
  if (is_file && !fs::exists(place, code))
    return Error{kDoing, "no such file", "'" + place + "'", "a Python file, FILE.py:NAME or package.module:NAME"};
  if (is_file && !fs::is_regular_file(place, code))
    return Error{kDoing, "not a file", "'" + place + "'", "a Python file"};
  if (!is_file && attr.empty())
    return Error{kDoing, "neither a file nor a module's class", "'" + target + "'",
                 "FILE.py, FILE.py:NAME or package.module:NAME"};
  task["file"] = is_file ? Json(fs::absolute(place).lexically_normal().string()) : Json(nullptr);
  task["module"] = is_file ? Json(nullptr) : Json(place);
  if (!is_file) task["path"] = fs::current_path().string();  // as `python -m` would find it
  task["attr"] = attr.empty() ? "Model" : attr;
  const std::string stem = is_file ? fs::path(place).stem().string() : attr;
  task["name"] = attr.empty() || attr == "Model" || attr == stem ? stem : stem + ":" + attr;
  return ok_status();
}

}  // namespace

void TaskOptions::declare(Options& options, bool required) {
  const std::string doc = "a Python file with Model and get_inputs, FILE.py:NAME, or package.module:NAME";
  required ? options.positional(target, "FILE", doc) : options.optional_positional(target, "FILE", doc);
  options.section("The module");
  options.words(init, "--init", "ARG...",
                "arguments of the constructor, instead of get_init_inputs: 64, gelu, hidden=128");
  options.words(inputs, "--input", "TYPE[SHAPE]...",
                "arguments of forward, instead of get_inputs: f32[64,512], i64[32]<1000, 0.5, mask=bool[64]");
  options.text(weights, "--weights", "FILE",
               "a checkpoint to load into the module (a state_dict that torch.save wrote)");
  options.flag(train, "--train", "run the module in train mode");
  options.flag(eval, "--eval", "run the module in eval mode");
}

void declare_accuracy(Options& options, std::string& accuracy) {
  options.choice(accuracy, "--accuracy", {"eager", "strict", "tf32"},
                 "how exact a kernel must be: as eager is, fp32 everywhere, or TF32 for matrix products too");
}

Result<std::vector<std::string>> baselines_named(const std::vector<std::string>& names) {
  std::vector<std::string> chosen;
  for (const std::string& text : names)
    for (const std::string& name : split(text, ',')) {
      if (std::find(kBaselines.begin(), kBaselines.end(), name) == kBaselines.end())
        return Error{"choosing the baselines", "no baseline is called that", "--baselines " + name,
                     join(kBaselines, ", ")};
      if (std::find(chosen.begin(), chosen.end(), name) == chosen.end()) chosen.push_back(name);
    }
  return chosen;
}

Result<Task> TaskOptions::task() const {
  Json task = Json::object();
  MTMC_RETURN_IF_ERROR(locate(target, task));
  add_arguments(init, "init_args", "init_kwargs", task);
  add_arguments(inputs, "inputs", "named_inputs", task);
  if (task.contains("named_inputs") && task["named_inputs"].empty()) task.erase("named_inputs");
  if (!weights.empty()) {
    if (!std::filesystem::is_regular_file(weights))
      return Error{kDoing, "no such checkpoint", "'" + weights + "'", "a file written by torch.save(state_dict)"};
    task["weights"] = std::filesystem::absolute(weights).string();
  }
  if (train && eval) return Error{kDoing, "--train and --eval contradict each other", "both", "one of them"};
  if (train || eval) task["mode"] = train ? "train" : "eval";
  return Task{task.at("name"), task.dump()};
}

}  // namespace mtmc
