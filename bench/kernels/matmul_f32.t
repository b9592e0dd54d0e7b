program matmul_f32 {
  %0 = input "x" : f32[4096,4096]
  %1 = input "y" : f32[4096,4096]
  %2 = matmul(%0, %1) : f32[4096,4096]
  return %2
}
kernel k0 = { %2 } contraction precision:two_part
