program conv_bn_relu {
  %0 = input "x" : f32[4,32,56,56]
  %1 = param "conv.weight" : f32[64,32,3,3]
  %2 = param "norm.weight" : f32[64]
  %3 = param "norm.bias" : f32[64]
  %4 = buffer "norm.running_mean" : f32[64]
  %5 = buffer "norm.running_var" : f32[64]
  %6 = library(%0, %1, args="{0}, {1}, None, [1, 1], [1, 1]", call="aten.conv2d.default", types="f32[4,64,56,56]") : f32[4,64,56,56]  @ conv_bn_relu.py:19
  %7, %8, %9 = library(%6, %2, %3, %4, %5, args="{0}, {1}, {2}, {3}, {4}, 0.1, 1e-05", call="aten._native_batch_norm_legit_no_training.default", types="f32[4,64,56,56] f32[0] f32[0]") : f32[4,64,56,56], f32[0], f32[0]  @ conv_bn_relu.py:19
  %10 = relu(%7) : f32[4,64,56,56]  @ conv_bn_relu.py:19
  return %10
}
kernel k0 = { %6 } library
kernel k1 = { %7 %8 %9 } library
kernel k2 = { %10 } library
