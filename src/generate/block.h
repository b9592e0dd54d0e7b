// A piece of a generated module: an operator or a small idiom as people write it. To add one: a row in a file of
// src/generate/blocks, or a new file there that defines `extern const BlockFile NAME_def`; a generated table finds it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "generate/module_text.h"

namespace mtmc {

enum class Role {
  pointwise,   // element by element
  structured,  // sums, normalises, moves: what a kernel is written for
  end,         // leaves less than it got: stands last
};

struct Block {
  std::string_view name;
  Role role = Role::pointwise;
  unsigned domains = kAnywhere;
  // Adds it to the text. It may decline (false, nothing written) where the value's shape does not fit.
  bool (*add)(ModuleText& text) = nullptr;
  double weight = 1;
};
using BlockFile = std::vector<Block>;

// All blocks of this role that stand at such a value.
std::vector<const Block*> blocks_for(Role role, Domain domain);
const Block& find_block(std::string_view name);
// Adds one of them, by weight; false when none fits.
bool add_one(ModuleText& text, const std::vector<const Block*>& of);

// Begins the module with an argument of forward: the value that flows.
void begin(ModuleText& text, Domain domain);

// Help for those who write one.
void passes_over(ModuleText& text, double passes = 2);  // costs so many passes over the value
double value_bytes(const ModuleText& text);
// A linear layer to `out`, and a convolution that keeps the places but for its stride; false where nothing would be
// left. `more`: further arguments of its constructor, ", bias=False".
void project(ModuleText& text, const Dim& out);
bool convolve(ModuleText& text, const Dim& out, int64_t kernel, int64_t stride, int64_t dilation,
              const std::string& more);
// A dimension times a number, as it is written: "2 * width".
Dim times(const Dim& dim, int64_t factor);

}  // namespace mtmc
