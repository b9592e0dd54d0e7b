program gelu {
  %0 = input "x" : f32[134217728]
  %1 = gelu(%0, approximate="none") : f32[134217728]
  return %1
}
kernel k0 = { %1 } pointwise
