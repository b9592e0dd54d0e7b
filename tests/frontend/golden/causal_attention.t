program causal_attention {
  %0 = input "x" : f32[4,256,256]
  %1 = param "qkv.weight" : f32[768,256]
  %2 = param "qkv.bias" : f32[768]
  %3 = param "out.weight" : f32[256,256]
  %4 = param "out.bias" : f32[256]
  %5 = buffer "visible" : f32[1,1,256,256]
  %6 = constant "8.0" : f32[]
  %7 = linear(%0, %1, %2) : f32[4,256,768]  @ causal_attention.py:21
  %8 = slice(%7, dim=2, end=256, start=0) : f32[4,256,256]  @ causal_attention.py:21
  %9 = slice(%7, dim=2, end=512, start=256) : f32[4,256,256]  @ causal_attention.py:21
  %10 = slice(%7, dim=2, end=768, start=512) : f32[4,256,256]  @ causal_attention.py:21
  %11 = reshape(%8, shape=[4,256,4,64]) : f32[4,256,4,64]  @ causal_attention.py:22
  %12 = transpose(%11, dim0=1, dim1=2) : f32[4,4,256,64]  @ causal_attention.py:22
  %13 = reshape(%9, shape=[4,256,4,64]) : f32[4,256,4,64]  @ causal_attention.py:23
  %14 = transpose(%13, dim0=1, dim1=2) : f32[4,4,256,64]  @ causal_attention.py:23
  %15 = reshape(%10, shape=[4,256,4,64]) : f32[4,256,4,64]  @ causal_attention.py:24
  %16 = transpose(%15, dim0=1, dim1=2) : f32[4,4,256,64]  @ causal_attention.py:24
  %17 = transpose(%14, dim0=-2, dim1=-1) : f32[4,4,64,256]  @ causal_attention.py:25
  %18 = matmul(%12, %17) : f32[4,4,256,256]  @ causal_attention.py:25
  %19 = div(%18, %6) : f32[4,4,256,256]  @ causal_attention.py:25
  %20 = library(%5, args="{0}, 0", call="aten.eq.Scalar", types="b1[1,1,256,256]") : b1[1,1,256,256]  @ causal_attention.py:26
  %21 = library(%19, %20, args="{0}, {1}, float('-inf')", call="aten.masked_fill.Scalar", types="f32[4,4,256,256]") : f32[4,4,256,256]  @ causal_attention.py:26
  %22 = softmax(%21, dim=-1) : f32[4,4,256,256]  @ causal_attention.py:27
  %23 = matmul(%22, %16) : f32[4,4,256,64]  @ causal_attention.py:27
  %24 = transpose(%23, dim0=1, dim1=2) : f32[4,256,4,64]  @ causal_attention.py:28
  %25 = reshape(%24, shape=[4,256,256]) : f32[4,256,256]  @ causal_attention.py:28
  %26 = linear(%25, %3, %4) : f32[4,256,256]  @ causal_attention.py:29
  return %26
}
kernel k0 = { %7 } library
kernel k1 = { %8 } library
kernel k2 = { %9 } library
kernel k3 = { %10 } library
kernel k4 = { %11 } library
kernel k5 = { %12 } library
kernel k6 = { %13 } library
kernel k7 = { %14 } library
kernel k8 = { %15 } library
kernel k9 = { %16 } library
kernel k10 = { %17 } library
kernel k11 = { %18 } library
kernel k12 = { %19 } library
kernel k13 = { %20 } library
kernel k14 = { %21 } library
kernel k15 = { %22 } library
kernel k16 = { %23 } library
kernel k17 = { %24 } library
kernel k18 = { %25 } library
kernel k19 = { %26 } library
