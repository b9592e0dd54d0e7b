program mlp {
  %0 = input "x" : f32[8,12]
  %1 = param "w" : f32[10,12]
  %2 = linear(%0, %1, none) : f32[8,10]
  %3 = relu(%2) : f32[8,10]
  return %3
}
>>> lower %2
program mlp {
  %0 = input "x" : f32[8,12]
  %1 = param "w" : f32[10,12]
  %2 = linear(%0, %1, none) : f32[8,10]
  %3 = relu(%2) : f32[8,10]
  return %3
}
kernel k0 = { %2 } contraction tiled
kernel k1 = { %3 } library
>>> lower %2 ; lower %3
program mlp {
  %0 = input "x" : f32[8,12]
  %1 = param "w" : f32[10,12]
  %2 = linear(%0, %1, none) : f32[8,10]
  %3 = relu(%2) : f32[8,10]
  return %3
}
kernel k0 = { %2 } contraction tiled
kernel k1 = { %3 } pointwise
>>> lower %2 %3
refused: applying lower: no kernel computes exactly this region: got %2 %3, wanted all values of one kernel
>>> lower %2 ; lower %2
refused: applying lower: the kernel is generated already: got k0
