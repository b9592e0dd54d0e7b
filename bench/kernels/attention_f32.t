program attention_f32 {
  %0 = input "q" : f32[16,12,1024,64]
  %1 = input "k" : f32[16,12,1024,64]
  %2 = input "v" : f32[16,12,1024,64]
  %3 = scaled_dot_product_attention(%0, %1, %2, none, is_causal=false) : f32[16,12,1024,64]
  return %3
}
kernel k0 = { %3 } attention precision:two_part
