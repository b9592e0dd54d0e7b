#include "generate/block.h"

#include <iterator>

#include "base/check.h"

#include "generate_blocks.h"

namespace mtmc {
namespace {

constexpr double kHalfShare = 0.1;  // of the files in half precision, of each type

}  // namespace

std::vector<const Block*> blocks_for(Role role, Domain domain) {
  std::vector<const Block*> found;
  for (const BlockFile* file : kBlockFiles)
    for (const Block& block : *file)
      if (block.role == role && (block.domains & static_cast<unsigned>(domain)) != 0) found.push_back(&block);
  return found;
}

const Block& find_block(std::string_view name) {
  for (const BlockFile* file : kBlockFiles)
    for (const Block& block : *file)
      if (block.name == name) return block;
  MTMC_CHECK(false, "no block is called " + std::string(name));
}

bool add_one(ModuleText& text, const std::vector<const Block*>& of) {
  std::vector<const Block*> left = of;
  while (!left.empty()) {
    double total = 0;
    for (const Block* block : left) total += block->weight;
    double drawn = text.rng().uniform() * total;
    size_t at = 0;
    while (at + 1 < left.size() && drawn >= left[at]->weight) drawn -= left[at++]->weight;
    if (left[at]->add(text)) return true;
    left.erase(left.begin() + static_cast<long>(at));
  }
  return false;
}

void begin(ModuleText& text, Domain domain) {
  text.domain = domain;
  if (domain == Domain::rows || domain == Domain::tokens) {
    const double drawn = text.rng().uniform();
    if (drawn < kHalfShare) text.dtype = "torch.float16";
    if (drawn > 1 - kHalfShare) text.dtype = "torch.bfloat16";
  }
  const auto dim = [&](std::initializer_list<const char*> names, std::initializer_list<int64_t> large,
                       std::initializer_list<int64_t> few) {
    return text.size(text.pick(names), text.sized(large, few));
  };
  const Dim batch = domain == Domain::rows
                        ? dim({"batch_size", "batch", "rows"}, {512, 1024, 2048, 4096, 8192, 16384}, {3, 4, 6, 8})
                        : dim({"batch_size", "batch", "n"}, {4, 8, 12, 16, 24, 32, 64}, {2, 3});
  text.shape = {batch};
  switch (domain) {
    case Domain::rows:
      text.shape.push_back(dim({"width", "features", "dim", "in_features"},
                               {384, 512, 640, 768, 1024, 1536, 2048, 3072, 4096, 5120}, {16, 24, 32, 40}));
      break;
    case Domain::tokens:
      text.shape.push_back(dim({"tokens", "seq_len", "length"}, {128, 197, 256, 384, 512, 1024, 2048}, {6, 8, 12}));
      text.shape.push_back(
          dim({"width", "d_model", "embed_dim", "hidden_size"}, {256, 384, 512, 768, 1024, 1280, 2048}, {16, 32, 48}));
      break;
    case Domain::sequence:
      text.shape.push_back(dim({"channels", "in_channels"}, {32, 48, 64, 128, 256, 512}, {4, 6, 8}));
      text.shape.push_back(dim({"length", "samples", "time"}, {1024, 2048, 4000, 8192, 16384}, {24, 32, 50}));
      break;
    case Domain::image: {
      text.shape.push_back(dim({"channels", "in_channels"}, {16, 24, 32, 48, 64, 96, 128, 256}, {4, 6, 8}));
      const int64_t side = text.sized({28, 32, 56, 64, 96, 112, 128}, {8, 10, 12});
      text.shape.push_back(text.size("height", side));
      text.shape.push_back(text.size("breadth", side));
      break;
    }
    case Domain::volume: {
      text.shape.push_back(dim({"channels", "in_channels"}, {8, 16, 24, 32}, {3, 4}));
      text.shape.push_back(dim({"depth", "frames"}, {8, 16, 20, 24}, {4, 5}));
      const int64_t side = text.sized({24, 28, 32, 48}, {5, 6});
      text.shape.push_back(text.size("height", side));
      text.shape.push_back(text.size("breadth", side));
      break;
    }
    case Domain::plain: MTMC_CHECK(false, "a module begins with a value of some meaning");
  }
  text.var = text.argument({"x", "x", "inputs", "hidden_states", "features_in"}, text.randn(text.shape));
}

double value_bytes(const ModuleText& text) {
  return static_cast<double>(text.elements()) * (text.dtype.empty() ? 4 : 2);
}

void passes_over(ModuleText& text, double passes) { text.cost(passes * value_bytes(text)); }

Dim times(const Dim& dim, int64_t factor) { return {std::to_string(factor) + " * " + dim.text, factor * dim.value}; }

}  // namespace mtmc
