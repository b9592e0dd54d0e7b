program separable_conv {
  %0 = input "x" : f32[8,64,56,56]
  %1 = param "depthwise.weight" : f32[64,1,3,3]
  %2 = param "depthwise.bias" : f32[64]
  %3 = param "pointwise.weight" : f32[64,64,1,1]
  %4 = param "pointwise.bias" : f32[64]
  %5 = conv2d(%0, %1, %2, groups=64, padding=[1,1]) : f32[8,64,56,56]  @ separable_conv.py:17
  %6 = relu6(%5) : f32[8,64,56,56]  @ separable_conv.py:17
  %7 = conv2d(%6, %3, %4) : f32[8,64,56,56]  @ separable_conv.py:17
  return %7
}
kernel k0 = { %5 } library
kernel k1 = { %6 } library
kernel k2 = { %7 } library
