program rows {
  %0 = input "x" : f32[16,32]
  %1 = softmax(%0, dim=-1) : f32[16,32]
  %2 = relu(%1) : f32[16,32]
  return %2
}
>>> lower %1 ; pipeline %1
program rows {
  %0 = input "x" : f32[16,32]
  %1 = softmax(%0, dim=-1) : f32[16,32]
  %2 = relu(%1) : f32[16,32]
  return %2
}
kernel k0 = { %1 } reduction pipelined
kernel k1 = { %2 } library
>>> pipeline %1
refused: applying pipeline: a library call has no loops to overlap: got k0, wanted a generated kernel
>>> lower %2 ; pipeline %2
refused: applying pipeline: no loop of the kernel waits for its own result: got k1, wanted a reduction or a contraction
>>> lower %1 ; pipeline %1 ; pipeline %1
refused: applying pipeline: the kernel is pipelined already: got k0
