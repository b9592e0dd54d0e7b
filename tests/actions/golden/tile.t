program rows {
  %0 = input "x" : f32[16,32]
  %1 = softmax(%0, dim=-1) : f32[16,32]
  return %1
}
>>> lower %1 ; tile %1
program rows {
  %0 = input "x" : f32[16,32]
  %1 = softmax(%0, dim=-1) : f32[16,32]
  return %1
}
kernel k0 = { %1 } reduction tiled
>>> tile %1
refused: applying tile: a library call has no tiles: got k0, wanted a generated kernel
>>> lower %1 ; tile %1 ; tile %1
refused: applying tile: the kernel is tiled already: got k0
====
program total {
  %0 = input "x" : f32[64]
  %1 = sum(%0) : f32[]
  return %1
}
>>> lower %1 ; tile %1
refused: applying tile: no axis is shared by all stages of the kernel: got k0
