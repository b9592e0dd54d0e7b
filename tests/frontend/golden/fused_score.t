program fused_score {
  %0 = input "query" : f32[16384,256]
  %1 = input "key" : f32[16384,256]
  %2 = input "sharpness" : f32[16384]
  %3 = mul(%0, %1) : f32[16384,256]  @ fused_score.py:9
  %4 = sum(%3, dim=[-1]) : f32[16384]  @ fused_score.py:9
  %5 = vector_norm(%0, dim=[-1]) : f32[16384]  @ fused_score.py:10
  %6 = vector_norm(%1, dim=[-1]) : f32[16384]  @ fused_score.py:10
  %7 = mul(%5, %6) : f32[16384]  @ fused_score.py:10
  %8 = mul(%2, %4) : f32[16384]  @ fused_score.py:11
  %9 = clamp(%7, min=1e-08) : f32[16384]  @ fused_score.py:11
  %10 = div(%8, %9) : f32[16384]  @ fused_score.py:11
  %11 = sigmoid(%10) : f32[16384]  @ fused_score.py:11
  return %11
}
kernel k0 = { %3 } library
kernel k1 = { %4 } library
kernel k2 = { %5 } library
kernel k3 = { %6 } library
kernel k4 = { %7 } library
kernel k5 = { %8 } library
kernel k6 = { %9 } library
kernel k7 = { %10 } library
kernel k8 = { %11 } library
