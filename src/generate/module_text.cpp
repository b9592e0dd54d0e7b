#include "generate/module_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "base/text.h"

namespace mtmc {
namespace {

// Of a large GPU; only the order of magnitude matters.
constexpr double kBandwidth = 3e12, kFlops = 50e12, kLaunch = 4e-6;
constexpr size_t kShownSigns = 6, kLongLine = 100;

bool is_used(const std::string& name, const std::vector<std::string>& in) {
  const std::regex word("\\b" + name + "\\b");
  return std::any_of(in.begin(), in.end(), [&](const std::string& line) { return std::regex_search(line, word); });
}

}  // namespace

int64_t ModuleText::elements() const {
  int64_t count = 1;
  for (const Dim& dim : shape) count *= dim.value;
  return count;
}

std::string ModuleText::pick(std::initializer_list<const char*> of) { return *(of.begin() + rng_.below(of.size())); }

std::string ModuleText::free_name(std::initializer_list<const char*> names, const std::string& prefix) {
  std::string name = pick(names);
  const auto taken = [&](const std::string& one) {
    return std::find(taken_.begin(), taken_.end(), prefix + one) != taken_.end();
  };
  if (taken(name))
    for (int number = 2;; ++number)
      if (!taken(name + std::to_string(number))) {
        name += std::to_string(number);
        break;
      }
  taken_.push_back(prefix + name);
  return name;
}

Dim ModuleText::size(std::string_view name, int64_t value) {
  const std::string text = free_name({std::string(name).c_str()}, "");
  sizes_.push_back({text, value});
  return sizes_.back();
}

std::string ModuleText::member(std::initializer_list<const char*> names, const std::string& make) {
  const std::string name = free_name(names, "self.");
  init_.push_back("self." + name + " = " + make);
  return "self." + name;
}

std::string ModuleText::local(std::initializer_list<const char*> names) { return free_name(names, ""); }

std::string ModuleText::argument(std::initializer_list<const char*> names, const std::string& draw) {
  arguments_.emplace_back(free_name(names, ""), draw);
  return arguments_.back().first;
}

std::string ModuleText::list(const std::vector<Dim>& dims) {
  std::vector<std::string> texts;
  for (const Dim& dim : dims) texts.push_back(dim.text);
  return join(texts, ", ");
}

std::string ModuleText::randn(const std::vector<Dim>& of) const {
  return "torch.randn(" + list(of) + (dtype.empty() ? "" : ", dtype=" + dtype) + ")";
}

void ModuleText::cost(double bytes, double flops) {
  seconds_ += std::max({bytes / kBandwidth, flops / kFlops, kLaunch});
}

ModuleText ModuleText::repeated() const {
  ModuleText block(rng_, size_);
  block.domain = domain, block.shape = shape, block.dtype = dtype, block.closed = true;
  block.taken_ = taken_, block.sizes_ = sizes_;
  std::erase_if(block.taken_, [](const std::string& name) { return name.starts_with("self."); });
  block.var = block.argument({"x", "hidden", "h"}, "");
  return block;
}

void ModuleText::repeat(const ModuleText& block, int depth) {
  const std::string name = free_name({"Block", "Layer", "Stage", "Unit"}, "");
  for (const Dim& dim : block.used_sizes())
    if (std::none_of(sizes_.begin(), sizes_.end(), [&](const Dim& own) { return own.text == dim.text; }))
      sizes_.push_back(dim), taken_.push_back(dim.text);
  classes_.push_back(block.class_text(name));
  const std::string made = name + "(" + join(block.parameters(), ", ") + ")";
  if (depth == 1) {
    become(member({"block", "stage"}, made) + "(" + var + ")");
  } else if (chance(0.5)) {
    const std::string all =
        member({"blocks", "layers"}, fmt::format("nn.ModuleList([{} for _ in range({})])", made, depth));
    statement("for block in " + all + ":");
    statement("    " + var + " = block(" + var + ")");
  } else {
    become(member({"body", "encoder", "trunk"}, fmt::format("nn.Sequential(*[{} for _ in range({})])", made, depth)) +
           "(" + var + ")");
  }
  signs_.push_back(fmt::format("{} times ({})", depth, join(block.signs_, ", ")));
  seconds_ += depth * block.seconds_;
}

std::vector<std::string> ModuleText::draws() const {
  std::vector<std::string> draws;
  for (const auto& [name, draw] : arguments_) draws.push_back(draw);
  return draws;
}

std::vector<Dim> ModuleText::used_sizes() const {
  std::vector<Dim> used;
  for (const Dim& dim : sizes_)
    if (is_used(dim.text, init_) || is_used(dim.text, draws())) used.push_back(dim);
  return used;
}

std::vector<std::string> ModuleText::parameters() const {
  std::vector<std::string> names;
  for (const Dim& dim : used_sizes())
    if (is_used(dim.text, init_)) names.push_back(dim.text);
  return names;
}

std::string ModuleText::class_text(const std::string& name) const {
  std::string text = "class " + name + "(nn.Module):\n";
  if (!init_.empty()) {
    std::string head = "    def __init__(self";
    for (const std::string& parameter : parameters()) head += ", " + parameter;
    text += head + "):\n        super().__init__()\n";
    for (const std::string& line : init_) text += "        " + line + "\n";
    if (!dtype.empty() && !closed) text += "        self.to(" + dtype + ")\n";
    text += "\n";
  }
  text += "    def forward(self";
  for (const auto& [argument, draw] : arguments_) text += ", " + argument;
  text += "):\n";
  for (const std::string& line : forward_) text += "        " + line + "\n";
  return text + "        return " + var + "\n";
}

std::string ModuleText::key() const {
  std::string text = dtype + (eval ? " eval\n" : "\n");
  for (const auto* part : {&classes_, &init_, &forward_}) text += join(*part, "\n") + "\n";
  text += join(draws(), "\n");
  for (size_t i = 0; i < taken_.size(); ++i) {
    const std::string name = taken_[i].starts_with("self.") ? taken_[i].substr(5) : taken_[i];
    text = std::regex_replace(text, std::regex("\\b" + name + "\\b"), "_" + std::to_string(i));
  }
  for (const Dim& dim : used_sizes()) text += " " + std::to_string(dim.value);
  return text;
}

std::string ModuleText::render(const std::string& about) const {
  const std::vector<std::string> some(signs_.begin(),
                                      signs_.begin() + static_cast<long>(std::min(signs_.size(), kShownSigns)));
  const std::string rest = signs_.size() > kShownSigns ? fmt::format(" and {} more", signs_.size() - kShownSigns) : "";
  std::string code;
  for (const std::string& one : classes_) code += "\n\n" + one;
  code += "\n\n" + class_text("Model");
  std::string text =
      fmt::format("\"\"\"{}: {}{}.\"\"\"\n\nimport torch\nimport torch.nn as nn\n", about, join(some, ", "), rest);
  if (code.find("F.") != code.npos) text += "import torch.nn.functional as F\n";
  text += "\n";
  if (eval) text += "MODE = \"eval\"\n";
  for (const Dim& dim : used_sizes()) text += fmt::format("{} = {}\n", dim.text, dim.value);
  text += code + "\n\ndef get_inputs():\n";
  const std::string one_line = "    return [" + join(draws(), ", ") + "]\n";
  text +=
      one_line.size() <= kLongLine ? one_line : "    return [\n        " + join(draws(), ",\n        ") + ",\n    ]\n";
  return text + "\n\ndef get_init_inputs():\n    return [" + join(parameters(), ", ") + "]\n";
}

}  // namespace mtmc
