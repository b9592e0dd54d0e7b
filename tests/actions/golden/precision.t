program chain {
  %0 = input "x" : f32[16,32]
  %1 = relu(%0) : f32[16,32]
  %2 = softmax(%1, dim=-1) : f32[16,32]
  %3 = to(%2, dtype=bf16) : bf16[16,32]
  return %3
}
>>> lower %1 ; fuse %2 %3 ; precision:bf16 %1
program chain {
  %0 = input "x" : f32[16,32]
  %1 = relu(%0) : f32[16,32] storage bf16
  %2 = softmax(%1, dim=-1) : f32[16,32]
  %3 = to(%2, dtype=bf16) : bf16[16,32]
  return %3
}
kernel k0 = { %1 } pointwise
kernel k1 = { %2 %3 } reduction
rewritten precision "%1 stored in bf16"
>>> lower %1 ; fuse %2 %3 ; precision:f16 %1
program chain {
  %0 = input "x" : f32[16,32]
  %1 = relu(%0) : f32[16,32] storage f16
  %2 = softmax(%1, dim=-1) : f32[16,32]
  %3 = to(%2, dtype=bf16) : bf16[16,32]
  return %3
}
kernel k0 = { %1 } pointwise
kernel k1 = { %2 %3 } reduction
rewritten precision "%1 stored in f16"
>>> precision:f16 %1
refused: applying precision: a library call makes or reads the value: got %1, wanted a value between generated kernels
>>> fuse %2 %3 ; precision:f16 %3
refused: applying precision: not stored in f32: got %3 in bf16
>>> fuse %1 %2 %3 ; precision:f16 %1
refused: applying precision: the value never reaches memory: got %1, wanted a value between two kernels
>>> lower %1 ; fuse %2 %3 ; precision:f64 %1
refused: applying precision: not a storage type for this: got f64, wanted f16 or bf16
>>> precision:f16 %0
refused: applying precision: not an intermediate result: got %0
====
program chain {
  %0 = input "x" : f32[16,32]
  %1 = relu(%0) : f32[16,32]
  %2 = softmax(%1, dim=-1) : f32[16,32]
  return %2
}
>>> lower %1 ; lower %2 ; precision:f16 %1
refused: applying precision: results of this type must be more exact: got %2 : f32[16,32], wanted results in f16 or bf16
