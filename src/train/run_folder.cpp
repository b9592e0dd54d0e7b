#include "train/run_folder.h"

#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "lm/floats.h"
#include "train/curves.h"

namespace mtmc::train {

namespace fs = std::filesystem;

namespace {

std::string going_on(const fs::path& path) { return "going on with the training " + path.string(); }

std::string shown(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

}  // namespace

Result<RunFolder> RunFolder::open(const fs::path& path, const Json& asked, bool writes) {
  RunFolder folder;
  folder.path_ = path;
  folder.asked_ = sha256(asked.dump());
  const fs::path file = path / "training.json";
  if (fs::exists(file)) {
    MTMC_TRY(const std::string text, read_file(file));
    const Json found = Json::parse(text, nullptr, false);
    if (!found.is_object())
      return Error{going_on(path), "training.json is not JSON", text.substr(0, 40), "the folder of a training"};
    for (const auto& [name, value] : asked.items())
      if (const Json other = found.value(name, Json()); other != value)
        return Error{going_on(path), fmt::format("it has another {}", name), shown(other),
                     fmt::format("{}, or another --out", shown(value))};
    return folder;
  }
  std::error_code code;
  fs::create_directories(path, code);
  if (code) return Error{"making the training " + path.string(), code.message(), "", "a folder that can be written to"};
  if (writes) MTMC_RETURN_IF_ERROR(write_file(file, asked.dump(2) + "\n"));
  return folder;
}

Result<int64_t> RunFolder::restore(const Tensors& tensors) {
  const at::AutoGradMode no_grad(false);
  const fs::path file = path_ / "state.safetensors";
  if (!fs::exists(file)) return int64_t{0};
  MTMC_TRY(const SafetensorsFile kept, open_safetensors(file));
  const auto wrong = [&](const std::string& what, const std::string& got, const std::string& wanted) {
    return Error{"reading " + file.string(), what, got, wanted};
  };
  const auto said = [&](const char* name) {
    const auto at = kept.metadata.find(name);
    return at == kept.metadata.end() ? "" : at->second;
  };
  if (said("run") != asked_)
    return wrong("it belongs to another training", said("run").substr(0, 16), asked_.substr(0, 16));
  int64_t updates = 0;
  const std::string number = said("updates");
  if (std::from_chars(number.data(), number.data() + number.size(), updates).ec != std::errc() || updates < 1)
    return wrong("it does not say how many updates are done", number, "1 or more");
  for (const auto& [name, tensor] : tensors) {
    const auto at = kept.tensors.find(name);
    if (at == kept.tensors.end()) return wrong("a tensor is missing", "", name);
    if (at->second.shape != tensor.sizes().vec())
      return wrong(name + " has a wrong shape", fmt::format("[{}]", fmt::join(at->second.shape, ", ")),
                   fmt::format("[{}]", fmt::join(tensor.sizes(), ", ")));
    tensor.copy_(lm::tensor_of(at->second));
  }
  // Lines of an update whose state was not kept any more are written again.
  if (fs::exists(path_ / "metrics.jsonl")) {
    MTMC_TRY(const std::string text, read_file(path_ / "metrics.jsonl"));
    for (const std::string& line : split(trim(text), '\n'))
      if (const Json json = Json::parse(line, nullptr, false);
          json.is_object() && json.value("update", int64_t{0}) >= 1 && json.value("update", int64_t{0}) <= updates)
        lines_.push_back(line);
  }
  return updates;
}

Status RunFolder::write_lines() const { return write_file(path_ / "metrics.jsonl", join(lines_, "\n") + "\n"); }

Status RunFolder::keep(int64_t updates, const Tensors& tensors, const Metrics& metrics) {
  std::map<std::string, FloatTensor> floats;
  for (const auto& [name, tensor] : tensors) floats[name] = lm::floats_of(tensor);
  Json line = {{"update", updates}};
  for (const auto& [name, value] : metrics) line[name] = value;
  lines_.push_back(line.dump());
  MTMC_RETURN_IF_ERROR(write_lines());
  return write_safetensors(path_ / "state.safetensors", floats,
                           {{"run", asked_}, {"updates", std::to_string(updates)}});
}

Status RunFolder::draw() const {
  std::vector<Json> lines;
  for (const std::string& line : lines_) lines.push_back(Json::parse(line));
  return write_file(path_ / "metrics.svg", curves_svg(lines));
}

}  // namespace mtmc::train
