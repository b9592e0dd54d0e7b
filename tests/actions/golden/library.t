program mlp {
  %0 = input "x" : f32[8,12]
  %1 = param "w" : f32[10,12]
  %2 = linear(%0, %1, none) : f32[8,10]
  %3 = relu(%2) : f32[8,10]
  return %3
}
>>> fuse %2 %3 ; library %2 %3
program mlp {
  %0 = input "x" : f32[8,12]
  %1 = param "w" : f32[10,12]
  %2 = linear(%0, %1, none) : f32[8,10]
  %3 = relu(%2) : f32[8,10]
  return %3
}
kernel k0 = { %2 } library
kernel k1 = { %3 } library
>>> library %2
refused: applying library: the kernel is a library call already: got k0
