program rms_norm_residual {
  %0 = input "x" : f32[2048,1024]
  %1 = input "residual" : f32[2048,1024]
  %2 = param "weight" : f32[1024]
  %3 = constant "1e-06" : f32[]
  %4 = add(%1, %0) : f32[2048,1024]  @ rms_norm_residual.py:16
  %5 = pow_scalar(%4, exponent=2) : f32[2048,1024]  @ rms_norm_residual.py:17
  %6 = mean(%5, dim=[-1], keepdim=true) : f32[2048,1]  @ rms_norm_residual.py:17
  %7 = add(%6, %3) : f32[2048,1]  @ rms_norm_residual.py:18
  %8 = rsqrt(%7) : f32[2048,1]  @ rms_norm_residual.py:18
  %9 = mul(%4, %8) : f32[2048,1024]  @ rms_norm_residual.py:18
  %10 = mul(%9, %2) : f32[2048,1024]  @ rms_norm_residual.py:18
  return %10, %4
}
kernel k0 = { %4 } library
kernel k1 = { %5 } library
kernel k2 = { %6 } library
kernel k3 = { %7 } library
kernel k4 = { %8 } library
kernel k5 = { %9 } library
kernel k6 = { %10 } library
