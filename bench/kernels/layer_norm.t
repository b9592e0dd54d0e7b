program layer_norm {
  %0 = input "x" : f32[32768,4096]
  %1 = input "w" : f32[4096]
  %2 = input "b" : f32[4096]
  %3 = layer_norm(%0, %1, %2, eps=1e-05, normalized_shape=[4096]) : f32[32768,4096]
  return %3
}
kernel k0 = { %3 } reduction
