program separable {
  %0 = input "x" : f32[32,128,112,112]
  %1 = input "depthwise" : f32[128,1,3,3]
  %2 = input "pointwise" : f32[128,128,1,1]
  %3 = conv2d(%0, %1, none, groups=128, padding=[1,1], stride=[1,1]) : f32[32,128,112,112]
  %4 = relu(%3) : f32[32,128,112,112]
  %5 = conv2d(%4, %2, none) : f32[32,128,112,112]
  return %5
}
kernel k0 = { %3 %4 %5 } contraction precision:half
