program chain {
  %0 = input "x" : f32[16,32]
  %1 = relu(%0) : f32[16,32]
  %2 = softmax(%1, dim=-1) : f32[16,32]
  return %2
}
>>> lower %1 ; lower %2 ; precision:bf16 %1
program chain {
  %0 = input "x" : f32[16,32]
  %1 = relu(%0) : f32[16,32] storage bf16
  %2 = softmax(%1, dim=-1) : f32[16,32]
  return %2
}
kernel k0 = { %1 } pointwise
kernel k1 = { %2 } reduction
rewritten precision "%1 stored in bf16"
>>> lower %1 ; lower %2 ; precision:f16 %1
program chain {
  %0 = input "x" : f32[16,32]
  %1 = relu(%0) : f32[16,32] storage f16
  %2 = softmax(%1, dim=-1) : f32[16,32]
  return %2
}
kernel k0 = { %1 } pointwise
kernel k1 = { %2 } reduction
rewritten precision "%1 stored in f16"
>>> precision:f16 %1
refused: applying precision: a library call makes or reads the value: got %1, wanted a value between generated kernels
>>> lower %2 ; precision:f16 %2
refused: applying precision: the caller gets this value: got %2, wanted a value between two kernels
>>> fuse %1 %2 ; precision:f16 %1
refused: applying precision: the value never reaches memory: got %1, wanted a value between two kernels
>>> lower %1 ; lower %2 ; precision:f64 %1
refused: applying precision: not a storage type for this: got f64, wanted f16 or bf16
>>> precision:f16 %0
refused: applying precision: not an intermediate result: got %0
