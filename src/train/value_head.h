// What a state is worth, from the frozen backbone's last state of a prompt: width -> 1024 -> 512 -> 1 with ReLU, in
// fp32 (TWOSOME, Tan et al. 2024).
#pragma once
#include "base/rng.h"
#include "train/adamw.h"

namespace mtmc::train {

class ValueHead {
 public:
  ValueHead(int64_t width, const at::Device& device, Rng& rng);
  // features [B, width] fp32 -> [B].
  at::Tensor operator()(const at::Tensor& features) const;
  AdamW& optimizer() { return optimizer_; }
  const AdamW& optimizer() const { return optimizer_; }

 private:
  AdamW optimizer_;
};

}  // namespace mtmc::train
