program pool_chain {
  %0 = input "x" : f32[64,64,112,112]
  %1 = max_pool2d(%0, kernel_size=[5,5], stride=[1,1], padding=[2,2]) : f32[64,64,112,112]
  %2 = max_pool2d(%1, kernel_size=[5,5], stride=[1,1], padding=[2,2]) : f32[64,64,112,112]
  %3 = max_pool2d(%2, kernel_size=[5,5], stride=[1,1], padding=[2,2]) : f32[64,64,112,112]
  %4 = cat(%0, %1, %2, %3, dim=1) : f32[64,256,112,112]
  return %4
}
kernel k0 = { %1 %2 %3 %4 } window
