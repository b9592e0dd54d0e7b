program chain {
  %0 = input "x" : f32[4,6,8]
  %1 = reshape(%0, shape=[24,8]) : f32[24,8]
  %2 = exp(%1) : f32[24,8]
  %3 = softmax(%2, dim=-1) : f32[24,8]
  %4 = sum(%3) : f32[]
  return %3, %4
}
>>> fuse %2 %3
program chain {
  %0 = input "x" : f32[4,6,8]
  %1 = reshape(%0, shape=[24,8]) : f32[24,8]
  %2 = exp(%1) : f32[24,8]
  %3 = softmax(%2, dim=-1) : f32[24,8]
  %4 = sum(%3) : f32[]
  return %3, %4
}
kernel k1 = { %1 %2 %3 } reduction
kernel k3 = { %4 } library
>>> fuse %2 %4
refused: applying fuse: another kernel stands between them in the data flow
>>> fuse %2
refused: applying fuse: the region is not several kernels: got 1 kernel(s), wanted at least two
>>> fuse %2 %3 ; fuse %3 %4
refused: applying fuse: the region is not several kernels: got 1 kernel(s), wanted at least two
====
program twins {
  %0 = input "x" : f32[8,8]
  %1 = param "a" : f32[8,8]
  %2 = linear(%0, %1, none) : f32[8,8]
  %3 = relu(%2) : f32[8,8]
  %4 = param "b" : f32[8,8]
  %5 = linear(%3, %4, none) : f32[8,8]
  %6 = relu(%5) : f32[8,8]
  return %6
}
>>> fuse %2 %3 | %5 %6
program twins {
  %0 = input "x" : f32[8,8]
  %1 = param "a" : f32[8,8]
  %4 = param "b" : f32[8,8]
  %2 = linear(%0, %1, none) : f32[8,8]
  %3 = relu(%2) : f32[8,8]
  %5 = linear(%3, %4, none) : f32[8,8]
  %6 = relu(%5) : f32[8,8]
  return %6
}
kernel k0 = { %2 %3 } contraction tiled
kernel k2 = { %5 %6 } contraction tiled
====
program blocked {
  %0 = input "x" : f32[8,8]
  %1 = exp(%0) : f32[8,8]
  %2 = softmax(%1, dim=-1) : f32[8,8]
  %3 = add(%1, %2) : f32[8,8]
  return %3
}
>>> fuse %1 %3
refused: applying fuse: another kernel stands between them in the data flow
>>> fuse %1 %2 %3
program blocked {
  %0 = input "x" : f32[8,8]
  %1 = exp(%0) : f32[8,8]
  %2 = softmax(%1, dim=-1) : f32[8,8]
  %3 = add(%1, %2) : f32[8,8]
  return %3
}
kernel k0 = { %1 %2 %3 } reduction
====
program shared_view {
  %0 = input "x" : f32[4,6,8]
  %1 = reshape(%0, shape=[24,8]) : f32[24,8]
  %2 = exp(%1) : f32[24,8]
  %3 = softmax(%2, dim=-1) : f32[24,8]
  %4 = relu(%3) : f32[24,8]
  %5 = sum(%1) : f32[]
  return %4, %5
}
>>> fuse %2 %3 ; fuse %1 %2 %3 %4
program shared_view {
  %0 = input "x" : f32[4,6,8]
  %1 = reshape(%0, shape=[24,8]) : f32[24,8]
  %2 = exp(%1) : f32[24,8]
  %3 = softmax(%2, dim=-1) : f32[24,8]
  %4 = relu(%3) : f32[24,8]
  %5 = sum(%1) : f32[]
  return %4, %5
}
kernel k0 = { %1 } library
kernel k1 = { %1 %2 %3 %4 } reduction
kernel k4 = { %5 } library
