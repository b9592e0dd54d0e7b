program layer_norm {
  %0 = input "x" : f32[8,512,768]
  %1 = param "norm.weight" : f32[768]
  %2 = param "norm.bias" : f32[768]
  %3 = layer_norm(%0, %1, %2, normalized_shape=[768]) : f32[8,512,768]  @ layer_norm.py:15
  return %3
}
kernel k0 = { %3 } library
