program attention {
  %0 = input "q" : bf16[1,32,4096,128]
  %1 = input "k" : bf16[1,32,4096,128]
  %2 = input "v" : bf16[1,32,4096,128]
  %3 = scaled_dot_product_attention(%0, %1, %2, none, is_causal=true) : bf16[1,32,4096,128]
  return %3
}
kernel k0 = { %3 } attention
