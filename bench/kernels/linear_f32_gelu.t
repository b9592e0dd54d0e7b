program linear_f32_gelu {
  %0 = input "x" : f32[4096,1024]
  %1 = input "w" : f32[4096,1024]
  %2 = input "b" : f32[4096]
  %3 = linear(%0, %1, %2) : f32[4096,4096]
  %4 = gelu(%3, approximate="none") : f32[4096,4096]
  return %4
}
kernel k0 = { %3 %4 } contraction precision:two_part
