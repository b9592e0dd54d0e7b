program matmul_bf16 {
  %0 = input "x" : bf16[4096,4096]
  %1 = input "y" : bf16[4096,4096]
  %2 = matmul(%0, %1) : bf16[4096,4096]
  return %2
}
kernel k0 = { %2 } contraction
