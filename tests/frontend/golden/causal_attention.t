program causal_attention {
  %0 = input "x" : f32[4,256,256]
  %1 = param "qkv.weight" : f32[768,256]
  %2 = param "qkv.bias" : f32[768]
  %3 = param "out.weight" : f32[256,256]
  %4 = param "out.bias" : f32[256]
  %5 = buffer "visible" : f32[1,1,256,256]
  %6 = constant "8.0" : f32[]
  %7 = constant "0.0" : f32[]
  %8 = constant "-inf" : f32[]
  %9 = linear(%0, %1, %2) : f32[4,256,768]  @ causal_attention.py:21
  %10 = slice(%9, dim=2, end=256, start=0) : f32[4,256,256]  @ causal_attention.py:21
  %11 = slice(%9, dim=2, end=512, start=256) : f32[4,256,256]  @ causal_attention.py:21
  %12 = slice(%9, dim=2, end=768, start=512) : f32[4,256,256]  @ causal_attention.py:21
  %13 = reshape(%10, shape=[4,256,4,64]) : f32[4,256,4,64]  @ causal_attention.py:22
  %14 = transpose(%13, dim0=1, dim1=2) : f32[4,4,256,64]  @ causal_attention.py:22
  %15 = reshape(%11, shape=[4,256,4,64]) : f32[4,256,4,64]  @ causal_attention.py:23
  %16 = transpose(%15, dim0=1, dim1=2) : f32[4,4,256,64]  @ causal_attention.py:23
  %17 = reshape(%12, shape=[4,256,4,64]) : f32[4,256,4,64]  @ causal_attention.py:24
  %18 = transpose(%17, dim0=1, dim1=2) : f32[4,4,256,64]  @ causal_attention.py:24
  %19 = transpose(%16, dim0=-2, dim1=-1) : f32[4,4,64,256]  @ causal_attention.py:25
  %20 = matmul(%14, %19) : f32[4,4,256,256]  @ causal_attention.py:25
  %21 = div(%20, %6) : f32[4,4,256,256]  @ causal_attention.py:25
  %22 = eq(%5, %7) : b1[1,1,256,256]  @ causal_attention.py:26
  %23 = masked_fill(%21, %22, %8) : f32[4,4,256,256]  @ causal_attention.py:26
  %24 = softmax(%23, dim=-1) : f32[4,4,256,256]  @ causal_attention.py:27
  %25 = matmul(%24, %18) : f32[4,4,256,64]  @ causal_attention.py:27
  %26 = transpose(%25, dim0=1, dim1=2) : f32[4,256,4,64]  @ causal_attention.py:28
  %27 = reshape(%26, shape=[4,256,256]) : f32[4,256,256]  @ causal_attention.py:28
  %28 = linear(%27, %3, %4) : f32[4,256,256]  @ causal_attention.py:29
  return %28
}
kernel k0 = { %9 } library
kernel k1 = { %10 } library
kernel k2 = { %11 } library
kernel k3 = { %12 } library
kernel k4 = { %13 } library
kernel k5 = { %14 } library
kernel k6 = { %15 } library
kernel k7 = { %16 } library
kernel k8 = { %17 } library
kernel k9 = { %18 } library
kernel k10 = { %19 } library
kernel k11 = { %20 } library
kernel k12 = { %21 } library
kernel k13 = { %22 } library
kernel k14 = { %23 } library
kernel k15 = { %24 } library
kernel k16 = { %25 } library
kernel k17 = { %26 } library
kernel k18 = { %27 } library
kernel k19 = { %28 } library
