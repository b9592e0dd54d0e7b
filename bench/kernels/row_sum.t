program row_sum {
  %0 = input "x" : f32[32768,8192]
  %1 = sum(%0, dim=[1]) : f32[32768]
  return %1
}
kernel k0 = { %1 } reduction
