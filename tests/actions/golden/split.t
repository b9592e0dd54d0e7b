program total {
  %0 = input "x" : f32[64,64]
  %1 = sum(%0) : f32[]
  %2 = sum(%0, dim=[1]) : f32[64]
  return %1, %2
}
>>> lower %1 ; split %1
program total {
  %0 = input "x" : f32[64,64]
  %1 = sum(%0) : f32[]
  %2 = sum(%0, dim=[1]) : f32[64]
  return %1, %2
}
kernel k0 = { %1 } reduction split
kernel k1 = { %2 } library
>>> lower %2 ; split %2
refused: applying split: the target prints the same code with it: got k1
>>> split %1
refused: applying split: a library call has no reduction of ours: got k0, wanted a generated kernel
>>> lower %1 ; split %1 ; split %1
refused: applying split: the kernel is split already: got k0
