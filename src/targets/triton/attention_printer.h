// Attention as one launch: scores, row softmax and weighted values, block by block of keys, without the scores ever
// reaching memory (Dao et al., FlashAttention-2, 2023; online softmax: Milakov and Gimelshein, 2018).
#pragma once
#include "targets/triton/attention.h"
#include "targets/triton/launch.h"

namespace mtmc::triton {

// f32 operands keep about f32's accuracy: three TF32 products, or, in two f16 parts each (pack.cpp), three of those.
// `numbers`: "m", "n" (keys a block), "warps", "stages".
TritonLaunch print_attention(const Group& group, const Attention& attention, const std::string& name,
                             const Numbers& numbers, const Hardware& hardware);
std::vector<Numbers> attention_candidates(const Group& group, const Attention& attention, const Hardware& hardware);
// `now` with other "stages"; none where all keys are one block.
std::vector<Numbers> attention_depths(const Group& group, const Attention& attention, const Numbers& now,
                                      const Hardware& hardware);

}  // namespace mtmc::triton
