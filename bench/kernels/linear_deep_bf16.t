program linear_deep_bf16 {
  %0 = input "x" : bf16[512,16384]
  %1 = input "w" : bf16[512,16384]
  %2 = input "b" : bf16[512]
  %3 = linear(%0, %1, %2) : bf16[512,512]
  %4 = relu(%3) : bf16[512,512]
  return %4
}
kernel k0 = { %3 %4 } contraction split
