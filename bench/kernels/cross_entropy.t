program cross_entropy {
  %0 = input "x" : f32[8192,32768]
  %1 = input "target" : i64[8192]
  %2 = cross_entropy(%0, %1, none) : f32[]
  return %2
}
kernel k0 = { %2 } reduction split
