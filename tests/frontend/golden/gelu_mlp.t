program gelu_mlp {
  %0 = input "x" : f32[512,256]
  %1 = param "up.weight" : f32[1024,256]
  %2 = param "up.bias" : f32[1024]
  %3 = param "down.weight" : f32[256,1024]
  %4 = param "down.bias" : f32[256]
  %5 = constant "0.5" : f32[]
  %6 = constant "0.044715" : f32[]
  %7 = constant "0.7978845608028654" : f32[]
  %8 = constant "1.0" : f32[]
  %9 = linear(%0, %1, %2) : f32[512,1024]  @ gelu_mlp.py:21
  %10 = mul(%9, %5) : f32[512,1024]  @ gelu_mlp.py:18
  %11 = pow_scalar(%9, exponent=3.0) : f32[512,1024]  @ gelu_mlp.py:18
  %12 = mul(%11, %6) : f32[512,1024]  @ gelu_mlp.py:18
  %13 = add(%9, %12) : f32[512,1024]  @ gelu_mlp.py:18
  %14 = mul(%13, %7) : f32[512,1024]  @ gelu_mlp.py:18
  %15 = tanh(%14) : f32[512,1024]  @ gelu_mlp.py:18
  %16 = add(%15, %8) : f32[512,1024]  @ gelu_mlp.py:18
  %17 = mul(%10, %16) : f32[512,1024]  @ gelu_mlp.py:18
  %18 = linear(%17, %3, %4) : f32[512,256]  @ gelu_mlp.py:21
  return %18
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
