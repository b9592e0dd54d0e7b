program transpose {
  %0 = input "x" : f32[8192,16384]
  %1 = transpose(%0, dim0=0, dim1=1) : f32[16384,8192]
  %2 = relu(%1) : f32[16384,8192]
  return %2
}
kernel k0 = { %1 %2 } movement
