program conv_transpose_k3 {
  %0 = input "x" : f32[32,64,64,64]
  %1 = input "w" : f32[64,64,3,3]
  %2 = input "b" : f32[64]
  %3 = conv_transpose2d(%0, %1, %2, output_padding=[1,1], padding=[1,1], stride=[2,2]) : f32[32,64,128,128]
  %4 = relu(%3) : f32[32,64,128,128]
  return %4
}
kernel k0 = { %3 %4 } contraction precision:half
