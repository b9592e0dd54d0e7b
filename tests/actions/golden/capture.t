program chain {
  %0 = input "x" : f32[16,32]
  %1 = relu(%0) : f32[16,32]
  %2 = softmax(%1, dim=-1) : f32[16,32]
  return %2
}
>>> lower %1 ; lower %2 ; capture %1 %2
program chain {
  %0 = input "x" : f32[16,32]
  %1 = relu(%0) : f32[16,32]
  %2 = softmax(%1, dim=-1) : f32[16,32]
  return %2
}
kernel k0 = { %1 } pointwise
kernel k1 = { %2 } reduction
capture { k0 k1 }
>>> lower %1 ; capture %1
refused: applying capture: the region is not a run of generated kernels, or is captured already
>>> lower %1 ; lower %2 ; capture %1 %2 ; fuse %1 %2
program chain {
  %0 = input "x" : f32[16,32]
  %1 = relu(%0) : f32[16,32]
  %2 = softmax(%1, dim=-1) : f32[16,32]
  return %2
}
kernel k0 = { %1 %2 } reduction
