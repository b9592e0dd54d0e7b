program rms_norm {
  %0 = input "x" : f32[32768,4096]
  %1 = input "w" : f32[4096]
  %2 = rms_norm(%0, %1, eps=1e-05, normalized_shape=[4096]) : f32[32768,4096]
  return %2
}
kernel k0 = { %2 } reduction
