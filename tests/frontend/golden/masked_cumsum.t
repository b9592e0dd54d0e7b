program masked_cumsum {
  %0 = input "x" : f32[512,4096]
  %1 = input "mask" : b1[512,4096]
  %2 = mul(%0, %1) : f32[512,4096]  @ masked_cumsum.py:15
  %3 = cumsum(%2, dim=1) : f32[512,4096]  @ masked_cumsum.py:15
  return %3
}
kernel k0 = { %2 } library
kernel k1 = { %3 } library
