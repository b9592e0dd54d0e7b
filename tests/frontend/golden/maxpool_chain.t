program maxpool_chain {
  %0 = input "x" : f32[4,64,28,28]
  %1 = max_pool2d(%0, kernel_size=[5,5], padding=[2,2], stride=[1,1]) : f32[4,64,28,28]  @ maxpool_chain.py:15
  %2 = max_pool2d(%1, kernel_size=[5,5], padding=[2,2], stride=[1,1]) : f32[4,64,28,28]  @ maxpool_chain.py:16
  %3 = max_pool2d(%2, kernel_size=[5,5], padding=[2,2], stride=[1,1]) : f32[4,64,28,28]  @ maxpool_chain.py:17
  %4 = cat(%0, %1, %2, %3, dim=1) : f32[4,256,28,28]  @ maxpool_chain.py:17
  return %4
}
kernel k0 = { %1 } library
kernel k1 = { %2 } library
kernel k2 = { %3 } library
kernel k3 = { %4 } library
