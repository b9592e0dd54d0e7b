program conv_transpose_act {
  %0 = input "x" : f32[4,64,32,32]
  %1 = param "up.weight" : f32[64,32,4,4]
  %2 = param "up.bias" : f32[32]
  %3 = conv_transpose2d(%0, %1, %2, padding=[1,1], stride=[2,2]) : f32[4,32,64,64]  @ conv_transpose_act.py:16
  %4 = silu(%3) : f32[4,32,64,64]  @ conv_transpose_act.py:16
  return %4
}
kernel k0 = { %3 } library
kernel k1 = { %4 } library
