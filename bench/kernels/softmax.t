program softmax {
  %0 = input "x" : f32[32768,4096]
  %1 = softmax(%0, dim=-1) : f32[32768,4096]
  return %1
}
kernel k0 = { %1 } reduction
