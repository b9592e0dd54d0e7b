program conv_bn_relu {
  %0 = input "x" : f32[4,32,56,56]
  %1 = param "conv.weight" : f32[64,32,3,3]
  %2 = param "norm.weight" : f32[64]
  %3 = param "norm.bias" : f32[64]
  %4 = buffer "norm.running_mean" : f32[64]
  %5 = buffer "norm.running_var" : f32[64]
  %6 = conv2d(%0, %1, padding=[1,1]) : f32[4,64,56,56]  @ conv_bn_relu.py:19
  %7 = batch_norm(%6, %2, %3, %4, %5, eps=1e-05) : f32[4,64,56,56]  @ conv_bn_relu.py:19
  %8 = relu(%7) : f32[4,64,56,56]  @ conv_bn_relu.py:19
  return %8
}
kernel k0 = { %6 } library
kernel k1 = { %7 } library
kernel k2 = { %8 } library
