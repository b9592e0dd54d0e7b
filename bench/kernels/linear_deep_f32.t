program linear_deep_f32 {
  %0 = input "x" : f32[256,65536]
  %1 = input "w" : f32[256,65536]
  %2 = input "b" : f32[256]
  %3 = linear(%0, %1, %2) : f32[256,256]
  %4 = relu(%3) : f32[256,256]
  return %4
}
kernel k0 = { %3 %4 } contraction precision:two_part split
