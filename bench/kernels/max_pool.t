program max_pool {
  %0 = input "x" : f32[64,64,224,224]
  %1 = max_pool2d(%0, kernel_size=[3,3], padding=[1,1], stride=[2,2]) : f32[64,64,112,112]
  return %1
}
kernel k0 = { %1 } window
