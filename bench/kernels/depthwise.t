program depthwise {
  %0 = input "x" : f32[32,128,128,128]
  %1 = input "w" : f32[128,1,3,3]
  %2 = conv2d(%0, %1, none, groups=128, padding=[1,1], stride=[1,1]) : f32[32,128,128,128]
  return %2
}
kernel k0 = { %2 } window
