program conv5x5_128 {
  %0 = input "x" : f32[32,128,56,56]
  %1 = input "w" : f32[128,128,5,5]
  %2 = input "b" : f32[128]
  %3 = conv2d(%0, %1, %2, padding=[2,2], stride=[1,1]) : f32[32,128,56,56]
  %4 = relu(%3) : f32[32,128,56,56]
  return %4
}
kernel k0 = { %3 %4 } contraction precision:half
