program neutral {
  %0 = input "x" : f32[4,6]
  %1 = constant "1.0" : f32[]
  %2 = mul(%0, %1) : f32[4,6]
  %3 = transpose(%2, dim0=0, dim1=1) : f32[6,4]
  %4 = transpose(%3, dim0=-1, dim1=-2) : f32[4,6]
  %5 = relu(%4) : f32[4,6]
  %6 = to(%5, dtype=f32) : f32[4,6]
  return %6
}
>>> simplify:identity %2
program neutral {
  %0 = input "x" : f32[4,6]
  %3 = transpose(%0, dim0=0, dim1=1) : f32[6,4]
  %4 = transpose(%3, dim0=-1, dim1=-2) : f32[4,6]
  %5 = relu(%4) : f32[4,6]
  %6 = to(%5, dtype=f32) : f32[4,6]
  return %6
}
kernel k1 = { %3 } library
kernel k2 = { %4 } library
kernel k3 = { %5 } library
kernel k4 = { %6 } library
rewritten simplify "identity at %2"
>>> simplify:identity %3 %4
program neutral {
  %0 = input "x" : f32[4,6]
  %1 = constant "1.0" : f32[]
  %2 = mul(%0, %1) : f32[4,6]
  %5 = relu(%2) : f32[4,6]
  %6 = to(%5, dtype=f32) : f32[4,6]
  return %6
}
kernel k0 = { %2 } library
kernel k3 = { %5 } library
kernel k4 = { %6 } library
rewritten simplify "identity at %4"
>>> simplify:identity %6
refused: applying simplify: the caller gets this value, and must not get another's memory: got identity
>>> simplify:identity %5
refused: applying simplify: the region is not this pattern: got identity
>>> simplify:magic %5
refused: applying simplify: unknown rule: got magic, wanted one of the rules in docs/ACTIONS.md
====
program manual_gelu {
  %0 = input "x" : f32[4,6]
  %1 = param "w" : f32[8,6]
  %2 = constant "0.5" : f32[]
  %3 = constant "0.044715" : f32[]
  %4 = constant "0.7978845608028654" : f32[]
  %5 = constant "1.0" : f32[]
  %6 = linear(%0, %1, none) : f32[4,8]
  %7 = mul(%6, %2) : f32[4,8]
  %8 = pow_scalar(%6, exponent=3.0) : f32[4,8]
  %9 = mul(%8, %3) : f32[4,8]
  %10 = add(%6, %9) : f32[4,8]
  %11 = mul(%10, %4) : f32[4,8]
  %12 = tanh(%11) : f32[4,8]
  %13 = add(%12, %5) : f32[4,8]
  %14 = mul(%7, %13) : f32[4,8]
  return %14
}
>>> simplify:activation %7 %8 %9 %10 %11 %12 %13 %14
program manual_gelu {
  %0 = input "x" : f32[4,6]
  %1 = param "w" : f32[8,6]
  %6 = linear(%0, %1, none) : f32[4,8]
  %14 = gelu(%6, approximate="tanh") : f32[4,8]
  return %14
}
kernel k0 = { %6 } library
kernel k8 = { %14 } library
rewritten simplify "activation at %14"
>>> fuse %6 %7 %8 %9 %10 %11 %12 %13 %14 ; simplify:activation %7 %8 %9 %10 %11 %12 %13 %14
program manual_gelu {
  %0 = input "x" : f32[4,6]
  %1 = param "w" : f32[8,6]
  %6 = linear(%0, %1, none) : f32[4,8]
  %14 = gelu(%6, approximate="tanh") : f32[4,8]
  return %14
}
kernel k0 = { %6 %14 } contraction tiled
rewritten simplify "activation at %14"
====
program gates {
  %0 = input "x" : f32[4,6]
  %1 = sigmoid(%0) : f32[4,6]
  %2 = mul(%0, %1) : f32[4,6]
  %3 = clamp(%2, min=0) : f32[4,6]
  return %3
}
>>> simplify:activation %1 %2
program gates {
  %0 = input "x" : f32[4,6]
  %2 = silu(%0) : f32[4,6]
  %3 = clamp(%2, min=0) : f32[4,6]
  return %3
}
kernel k1 = { %2 } library
kernel k2 = { %3 } library
rewritten simplify "activation at %2"
>>> simplify:activation %3
program gates {
  %0 = input "x" : f32[4,6]
  %1 = sigmoid(%0) : f32[4,6]
  %2 = mul(%0, %1) : f32[4,6]
  %3 = relu(%2) : f32[4,6]
  return %3
}
kernel k0 = { %1 } library
kernel k1 = { %2 } library
kernel k2 = { %3 } library
rewritten simplify "activation at %3"
====
program normalised {
  %0 = input "x" : f32[4,6]
  %1 = clamp(%0, min=1e-12) : f32[4,6]
  return %1
}
>>> simplify:activation %1
refused: applying simplify: the region is not this pattern: got activation
====
program manual_softmax {
  %0 = input "x" : f32[4,6]
  %1 = amax(%0, dim=[1], keepdim=true) : f32[4,1]
  %2 = sub(%0, %1) : f32[4,6]
  %3 = exp(%2) : f32[4,6]
  %4 = sum(%3, dim=[-1], keepdim=true) : f32[4,1]
  %5 = div(%3, %4) : f32[4,6]
  %6 = log(%5) : f32[4,6]
  return %6
}
>>> simplify:softmax %1 %2 %3 %4 %5
program manual_softmax {
  %0 = input "x" : f32[4,6]
  %5 = softmax(%0, dim=1) : f32[4,6]
  %6 = log(%5) : f32[4,6]
  return %6
}
kernel k4 = { %5 } library
kernel k5 = { %6 } library
rewritten simplify "softmax at %5"
>>> simplify:softmax %1 %2 %3 %4 %5 ; simplify:softmax %5 %6
program manual_softmax {
  %0 = input "x" : f32[4,6]
  %6 = log_softmax(%0, dim=1) : f32[4,6]
  return %6
}
kernel k5 = { %6 } library
rewritten simplify "softmax at %5"
rewritten simplify "softmax at %6"
====
program manual_rms_norm {
  %0 = input "x" : f32[4,6]
  %1 = param "weight" : f32[6]
  %2 = constant "1e-06" : f32[]
  %3 = pow_scalar(%0, exponent=2) : f32[4,6]
  %4 = mean(%3, dim=[-1], keepdim=true) : f32[4,1]
  %5 = add(%4, %2) : f32[4,1]
  %6 = rsqrt(%5) : f32[4,1]
  %7 = mul(%0, %6) : f32[4,6]
  %8 = mul(%7, %1) : f32[4,6]
  return %8
}
>>> simplify:norm %3 %4 %5 %6 %7 %8
program manual_rms_norm {
  %0 = input "x" : f32[4,6]
  %1 = param "weight" : f32[6]
  %8 = rms_norm(%0, %1, eps=1e-06, normalized_shape=[6]) : f32[4,6]
  return %8
}
kernel k5 = { %8 } library
rewritten simplify "norm at %8"
>>> simplify:norm %3 %4 %5 %6 %7
program manual_rms_norm {
  %0 = input "x" : f32[4,6]
  %1 = param "weight" : f32[6]
  %7 = rms_norm(%0, eps=1e-06, normalized_shape=[6]) : f32[4,6]
  %8 = mul(%7, %1) : f32[4,6]
  return %8
}
kernel k4 = { %7 } library
kernel k5 = { %8 } library
rewritten simplify "norm at %7"
====
program manual_layer_norm {
  %0 = input "x" : f32[4,6]
  %1 = param "weight" : f32[6]
  %2 = param "bias" : f32[6]
  %3 = constant "1e-05" : f32[]
  %4 = mean(%0, dim=[-1], keepdim=true) : f32[4,1]
  %5 = sub(%0, %4) : f32[4,6]
  %6 = var(%0, correction=0, dim=[-1], keepdim=true) : f32[4,1]
  %7 = add(%6, %3) : f32[4,1]
  %8 = sqrt(%7) : f32[4,1]
  %9 = div(%5, %8) : f32[4,6]
  %10 = mul(%9, %1) : f32[4,6]
  %11 = add(%10, %2) : f32[4,6]
  return %11
}
>>> simplify:norm %4 %5 %6 %7 %8 %9 %10 %11
program manual_layer_norm {
  %0 = input "x" : f32[4,6]
  %1 = param "weight" : f32[6]
  %2 = param "bias" : f32[6]
  %11 = layer_norm(%0, %1, %2, eps=1e-05, normalized_shape=[6]) : f32[4,6]
  return %11
}
kernel k7 = { %11 } library
rewritten simplify "norm at %11"
====
program manual_attention {
  %0 = input "q" : f32[2,3,4,5]
  %1 = input "k" : f32[2,3,6,5]
  %2 = input "v" : f32[2,3,6,7]
  %3 = input "hidden" : b1[4,6]
  %4 = constant "2.0" : f32[]
  %5 = constant "-inf" : f32[]
  %6 = transpose(%1, dim0=-2, dim1=-1) : f32[2,3,5,6]
  %7 = matmul(%0, %6) : f32[2,3,4,6]
  %8 = div(%7, %4) : f32[2,3,4,6]
  %9 = masked_fill(%8, %3, %5) : f32[2,3,4,6]
  %10 = softmax(%9, dim=-1) : f32[2,3,4,6]
  %11 = matmul(%10, %2) : f32[2,3,4,7]
  return %11
}
>>> simplify:attention %7 %8 %9 %10 %11
program manual_attention {
  %0 = input "q" : f32[2,3,4,5]
  %1 = input "k" : f32[2,3,6,5]
  %2 = input "v" : f32[2,3,6,7]
  %3 = input "hidden" : b1[4,6]
  %12 = logical_not(%3) : b1[4,6]
  %11 = scaled_dot_product_attention(%0, %1, %2, %12, scale=0.5) : f32[2,3,4,7]
  return %11
}
kernel k6 = { %12 } library
kernel k5 = { %11 } library
rewritten simplify "attention at %11"
====
program conv_norm {
  %0 = input "x" : f32[2,3,6,6]
  %1 = param "w" : f32[4,3,3,3]
  %2 = param "gamma" : f32[4]
  %3 = param "beta" : f32[4]
  %4 = buffer "mean" : f32[4]
  %5 = buffer "var" : f32[4]
  %6 = conv2d(%0, %1, padding=[1,1]) : f32[2,4,6,6]
  %7 = batch_norm(%6, %2, %3, %4, %5, eps=1e-05) : f32[2,4,6,6]
  %8 = relu(%7) : f32[2,4,6,6]
  return %8
}
>>> simplify:batch_norm %6 %7
program conv_norm {
  %0 = input "x" : f32[2,3,6,6]
  %1 = param "w" : f32[4,3,3,3]
  %2 = param "gamma" : f32[4]
  %3 = param "beta" : f32[4]
  %4 = buffer "mean" : f32[4]
  %5 = buffer "var" : f32[4]
  %9 = constant "1e-05" : f32[]
  %10 = add(%5, %9) : f32[4]
  %11 = rsqrt(%10) : f32[4]
  %12 = mul(%11, %2) : f32[4]
  %13 = reshape(%12, shape=[-1,1,1,1]) : f32[4,1,1,1]
  %14 = mul(%1, %13) : f32[4,3,3,3]
  %15 = mul(%4, %12) : f32[4]
  %16 = sub(%3, %15) : f32[4]
  %7 = conv2d(%0, %14, %16, padding=[1,1]) : f32[2,4,6,6]
  %8 = relu(%7) : f32[2,4,6,6]
  return %8
}
kernel k3 = { %10 } library
kernel k4 = { %11 } library
kernel k5 = { %12 } library
kernel k6 = { %13 } library
kernel k7 = { %14 } library
kernel k8 = { %15 } library
kernel k9 = { %16 } library
kernel k1 = { %7 } library
kernel k2 = { %8 } library
rewritten simplify "batch_norm at %7"
>>> fuse %6 %7 %8 ; simplify:batch_norm %6 %7
program conv_norm {
  %0 = input "x" : f32[2,3,6,6]
  %1 = param "w" : f32[4,3,3,3]
  %2 = param "gamma" : f32[4]
  %3 = param "beta" : f32[4]
  %4 = buffer "mean" : f32[4]
  %5 = buffer "var" : f32[4]
  %9 = constant "1e-05" : f32[]
  %10 = add(%5, %9) : f32[4]
  %11 = rsqrt(%10) : f32[4]
  %12 = mul(%11, %2) : f32[4]
  %13 = reshape(%12, shape=[-1,1,1,1]) : f32[4,1,1,1]
  %14 = mul(%1, %13) : f32[4,3,3,3]
  %15 = mul(%4, %12) : f32[4]
  %16 = sub(%3, %15) : f32[4]
  %7 = conv2d(%0, %14, %16, padding=[1,1]) : f32[2,4,6,6]
  %8 = relu(%7) : f32[2,4,6,6]
  return %8
}
kernel k0 = { %10 %11 %12 %13 %14 %15 %16 %7 %8 } contraction tiled
rewritten simplify "batch_norm at %7"
