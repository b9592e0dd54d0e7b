program conv_transpose3d {
  %0 = input "x" : f32[16,32,16,32,32]
  %1 = input "w" : f32[32,64,3,3,3]
  %2 = conv_transpose3d(%0, %1, none, output_padding=[1,1,1], padding=[1,1,1], stride=[2,2,2]) : f32[16,64,32,64,64]
  return %2
}
kernel k0 = { %2 } contraction precision:half
