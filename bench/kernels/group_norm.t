program group_norm {
  %0 = input "x" : f32[64,128,112,112]
  %1 = input "w" : f32[128]
  %2 = input "b" : f32[128]
  %3 = group_norm(%0, %1, %2, eps=1e-05, num_groups=8) : f32[64,128,112,112]
  return %3
}
kernel k0 = { %3 } reduction split
