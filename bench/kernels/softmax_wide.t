program softmax_wide {
  %0 = input "x" : f32[1024,131072]
  %1 = softmax(%0, dim=-1) : f32[1024,131072]
  return %1
}
kernel k0 = { %1 } reduction
