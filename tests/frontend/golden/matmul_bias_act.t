program matmul_bias_act {
  %0 = input "x" : f32[1024,256]
  %1 = param "weight" : f32[256,1024]
  %2 = param "bias" : f32[1024]
  %3 = param "scale" : f32[1024]
  %4 = matmul(%0, %1) : f32[1024,1024]  @ matmul_bias_act.py:19
  %5 = add(%4, %2) : f32[1024,1024]  @ matmul_bias_act.py:20
  %6 = leaky_relu(%5, negative_slope=0.1) : f32[1024,1024]  @ matmul_bias_act.py:21
  %7 = mul(%6, %3) : f32[1024,1024]  @ matmul_bias_act.py:22
  return %7
}
kernel k0 = { %4 } library
kernel k1 = { %5 } library
kernel k2 = { %6 } library
kernel k3 = { %7 } library
