program one {
  %0 = input "x" : f32[4]
  %1 = relu(%0) : f32[4]
  return %1
}
>>> stop
program one {
  %0 = input "x" : f32[4]
  %1 = relu(%0) : f32[4]
  return %1
}
kernel k0 = { %1 } library
