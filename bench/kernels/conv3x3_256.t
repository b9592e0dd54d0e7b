program conv3x3_256 {
  %0 = input "x" : f32[64,256,28,28]
  %1 = input "w" : f32[256,256,3,3]
  %2 = input "b" : f32[256]
  %3 = conv2d(%0, %1, %2, padding=[1,1], stride=[1,1]) : f32[64,256,28,28]
  %4 = relu(%3) : f32[64,256,28,28]
  return %4
}
kernel k0 = { %3 %4 } contraction precision:half
