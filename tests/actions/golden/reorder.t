program product {
  %0 = input "x" : f32[16,32]
  %1 = param "w" : f32[24,32]
  %2 = linear(%0, %1, none) : f32[16,24]
  %3 = sum(%2, dim=[1]) : f32[16]
  return %3
}
>>> lower %2 ; reorder:reversed %2
program product {
  %0 = input "x" : f32[16,32]
  %1 = param "w" : f32[24,32]
  %2 = linear(%0, %1, none) : f32[16,24]
  %3 = sum(%2, dim=[1]) : f32[16]
  return %3
}
kernel k0 = { %2 } contraction order:reversed tiled
kernel k1 = { %3 } library
>>> lower %3 ; reorder:reversed %3
refused: applying reorder: the kernel has fewer than two tile loops: got k1
>>> reorder:reversed %2
refused: applying reorder: a library call has no loops of ours: got k0, wanted a generated kernel
>>> lower %2 ; reorder:sideways %2
refused: applying reorder: unknown order: got sideways, wanted reversed or im2win
