#include "targets/triton/split_k.h"

#include <algorithm>

#include "base/check.h"

namespace mtmc::triton {
namespace {

constexpr int64_t kTile = 128;        // rows and columns of results that a program computes
constexpr int64_t kLeastChunk = 256;  // of K: what shorter chunks gain, adding up their results costs
constexpr int64_t kDepth = 64;        // of a block of K: a chunk is whole blocks

// The axis of K that is cut: the longest.
int longest_k(const GroupStage& stage) {
  const std::vector<int64_t> extents = stage.stage.extents();
  const std::vector<int>& k = stage.contraction->k;
  return *std::max_element(k.begin(), k.end(), [&](int a, int b) { return extents[a] < extents[b]; });
}

// Whether chunks of equal size, of whole blocks, remain.
bool can_cut(int64_t extent, int64_t chunks) { return chunks > 1 && extent % (chunks * kDepth) == 0; }

struct Split {
  GroupStage partial, rest;
  Products products;
};

Split split(Group& group, const GroupStage& stage, const Products& products, int64_t chunks) {
  const Stage& s = stage.stage;
  const int rank = s.rank(), cut = longest_k(stage);
  const int64_t chunk = s.reduce[cut - rank] / chunks;
  // Chunks are the first axis; the others follow as they were.
  std::vector<ExprP> to, all = {axis(rank)};
  for (int a = 0; a < static_cast<int>(s.extents().size()); ++a) to.push_back(axis(a + 1));
  for (int a = 0; a < rank; ++a) all.push_back(axis(a));
  to[cut] = axis(0) * index_constant(chunk) + axis(cut + 1);
  Split result{stage, stage, products};
  Stage& partial = result.partial.stage;
  partial.name = s.name + "_partial";
  partial.type = {s.body->dtype, s.type.shape};
  partial.type.shape.insert(partial.type.shape.begin(), chunks);
  partial.reduce[cut - rank] = chunk;
  const auto moved = [&](const ExprP& e) { return simplify(substitute_axes(e, to), partial.extents()); };
  partial.body = moved(s.body);
  result.products.left = moved(products.left), result.products.right = moved(products.right);
  for (ExprP& e : result.products.live) e = moved(e);
  result.partial.contraction = classify_contraction(partial);
  MTMC_CHECK(result.partial.contraction.has_value(), "a chunk of " + s.name + " is no contraction");
  result.partial.place.clear(), result.partial.placed = nullptr;
  group.tensors.push_back({GroupTensor::Role::scratch, kNoValue, group.tensors[stage.dest].name + "_partial",
                           partial.type, contiguous_strides(partial.type.shape), false});
  result.partial.dest = static_cast<int>(group.tensors.size()) - 1;
  result.rest.stage.reduce = {chunks};
  result.rest.stage.body = load(result.partial.dest, s.body->dtype, all);
  result.rest.contraction.reset();
  return result;
}

}  // namespace

int64_t tiles_of(const GroupStage& stage) {
  const std::vector<int64_t> extents = stage.stage.extents();
  const Contraction& c = *stage.contraction;
  return blocks(product(extents, c.m), kTile) * blocks(product(extents, c.n), kTile) * product(extents, c.batch);
}

int64_t chunks_of_k(const GroupStage& stage, const Hardware& hardware) {
  if (!stage.contraction) return 1;
  const int64_t busy = hardware.cores;  // one program for each multiprocessor
  const int64_t programs = tiles_of(stage), k = stage.stage.extents()[longest_k(stage)];
  int64_t chunks = 1;
  if (2 * programs > busy) return chunks;
  while (programs * chunks * 2 <= 2 * busy && k / (chunks * 2) >= kLeastChunk && can_cut(k, chunks * 2)) chunks *= 2;
  return chunks;
}

Prepared split_contractions(const Prepared& whole, int64_t chunks, const Hardware& hardware) {
  Prepared result;
  result.group.name = whole.group.name;
  result.group.tensors = whole.group.tensors;
  for (size_t s = 0; s < whole.group.stages.size(); ++s) {
    const GroupStage& stage = whole.group.stages[s];
    const auto products = whole.products.find(static_cast<int>(s));
    std::vector<GroupStage>& stages = result.group.stages;
    if (products == whole.products.end()) {
      stages.push_back(stage);
      continue;
    }
    const int64_t liked = chunks_of_k(stage, hardware), wanted = liked > 1 && chunks > 0 ? chunks : liked;
    if (!can_cut(stage.stage.extents()[longest_k(stage)], wanted)) {
      result.products[static_cast<int>(stages.size())] = products->second;
      stages.push_back(stage);
      continue;
    }
    Split parts = split(result.group, stage, products->second, wanted);
    result.products[static_cast<int>(stages.size())] = std::move(parts.products);
    stages.push_back(std::move(parts.partial));
    stages.push_back(std::move(parts.rest));
  }
  return result;
}

}  // namespace mtmc::triton
