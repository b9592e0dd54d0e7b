#include "targets/triton/contraction_numbers.h"

#include <algorithm>

namespace mtmc::triton {
namespace {

// Programs that nearly fill a GPU.
int64_t busy(const Hardware& hardware) { return hardware.cores * int64_t{10} / 11; }

class Candidates {
 public:
  explicit Candidates(const ContractionSizes& sizes) : sizes_(sizes) {}

  void add(int64_t m, int64_t n, int64_t k, int64_t warps, int64_t stages, const Numbers& others = {}) {
    Numbers one = {{"m", fit(m, sizes_.m)}, {"n", fit(n, sizes_.n)}, {"k", fit(k, sizes_.lane)},
                   {"warps", warps},        {"stages", stages},      {"group", 8}};
    one.insert(others.begin(), others.end());
    if (std::find(all_.begin(), all_.end(), one) == all_.end()) all_.push_back(std::move(one));
  }
  std::vector<Numbers> all() && { return std::move(all_); }

  static int64_t fit(int64_t wanted, int64_t extent) {
    return std::min(wanted, std::max<int64_t>(16, power_of_two(extent)));
  }

 private:
  const ContractionSizes& sizes_;
  std::vector<Numbers> all_;
};

// Tiles as large as keeps the GPU busy.
void add_default(Candidates& to, const ContractionSizes& sizes, const Hardware& hardware) {
  int64_t m = Candidates::fit(128, sizes.m), n = Candidates::fit(256, sizes.n), warps = 8,
          stages = sizes.two_part ? 4 : 3;
  while (blocks(sizes.m, m) * blocks(sizes.n, n) * sizes.matrices < busy(hardware) && (n > 64 || m > 64)) {
    int64_t& larger = n >= m ? n : m;
    larger /= 2;
  }
  // Three stages of 128 x 128 leave room for two programs, of 128 x 64 for three.
  const int64_t results = m * n;
  if (results <= 128 * 128) warps = 4, stages = results >= 128 * 64 ? 3 : 4;
  to.add(m, n, 64, warps, stages);
}

// Copies to shared memory that run ahead are slow where several rows ask for the same bytes (they pass by the
// first-level cache, which has them). Tried by hand on an H100, 8 channels in two parts (KernelBench, level 2,
// 21): 3.04 ms with three stages, 1.19 with one, 0.97 with both parts of a block in one step. How others fare, the
// tuner finds out.
void add_overlapping(Candidates& to, const ContractionSizes& sizes, const Hardware& hardware) {
  to.add(128, 64, 64, 4, 1);
  to.add(128, 128, 64, 8, 1);
  to.add(256, 64, 64, 8, 1);
  to.add(64, 64, 64, 4, 1);
  add_default(to, sizes, hardware);
}

// A block is loaded, split and multiplied: what hides the one behind the other are programs beside each other. By hand
// on an H100: 128 x 32768 x 32768 2.45 ms (first), 2.57, 2.65; 256 x 16384 x 16384 1.30, 1.33, 1.33 (256 rows: 1.26);
// 64 x 16384 x 16384 0.57 (64 x 64 x 64), 0.62.
void add_splits(Candidates& to, const ContractionSizes& sizes) {
  if (sizes.m > 64) {
    to.add(128, 64, 64, 8, 2);
    to.add(128, 128, 64, 8, 3);
    to.add(128, 64, 32, 4, 4);
    if (sizes.m > 128) to.add(256, 64, 32, 8, 4);
  } else {
    to.add(64, 64, 64, 4, 3);
    to.add(64, 128, 32, 4, 4);
    to.add(64, 128, 64, 8, 3);
  }
}

// With all taps along the phases' axis in one step, a tile that both phases read is read once, but every product waits
// for the one before. Two programs have room.
void add_phases(Candidates& to, const ContractionSizes& sizes, const Hardware& hardware) {
  const auto both = [&](int64_t m, int64_t n, int64_t k, int64_t warps, int64_t stages, int64_t taps) {
    to.add(m, n, k, warps, stages, {{"phases", 2}, {"taps", taps}});
  };
  if (blocks(sizes.m, 128) * blocks(sizes.n, 64) * sizes.matrices / 2 < busy(hardware)) both(64, 64, 64, 4, 2, 4);
  if (sizes.lane > 32) both(128, 64, 64, 8, 2, 1);
  both(128, 64, 32, 4, 4, 1);
  both(128, 64, 32, 4, 2, 4);
  both(128, 64, 32, 8, 2, 4);
  if (sizes.n > 64) both(128, 128, 32, 8, 3, 4);
  to.add(128, 64, 64, 4, 4, {{"phases", 1}, {"taps", 1}});
}

}  // namespace

std::vector<Numbers> contraction_numbers(const ContractionSizes& sizes, const Hardware& hardware) {
  Candidates all(sizes);
  if (sizes.f32) {
    // Few columns leave registers for more rows: 5.99 instead of 8.91 ms for a grouped transposed convolution.
    if (sizes.n <= 16) all.add(128, 16, 16, 8, 2);
    all.add(64, 64, 32, 4, 2);
    all.add(128, 64, 16, 8, 2);
    all.add(32, 32, 32, 4, 3);
  } else if (sizes.splits) {
    add_splits(all, sizes);
  } else if (sizes.phases) {
    add_phases(all, sizes, hardware);
  } else if (sizes.overlaps) {
    add_overlapping(all, sizes, hardware);
  } else {
    add_default(all, sizes, hardware);
    all.add(128, 256, 64, 8, 4);
    all.add(256, 128, 64, 8, sizes.two_part ? 4 : 3);
    all.add(128, 128, 64, 4, 3);
    all.add(128, 64, 64, 4, 4);
    all.add(64, 64, 64, 4, 4);
  }
  return std::move(all).all();
}

}  // namespace mtmc::triton
