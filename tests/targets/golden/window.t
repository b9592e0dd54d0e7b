program max_pool {
  %0 = input "x" : f32[2,3,16,22]
  %1 = max_pool2d(%0, kernel_size=[5,5], padding=[2,2], stride=[1,1]) : f32[2,3,16,22]
  return %1
}
kernel k0 = { %1 } window
>>> cpu
// k0: max_pool2d
extern "C" void k0_max_pool2d(const float* __restrict x, float* __restrict out_window_max) {
  #pragma omp parallel for collapse(3) schedule(static)
  for (long i0 = 0; i0 < 6; ++i0)
  for (long i1 = 0; i1 < 16; ++i1)
  for (long b2 = 0; b2 < 22; b2 += 22) {
    const long e2 = b2 + 22;
    {  // out_window_max: max_pool2d
      sweep(b2, e2, [&](long i2, auto n) __attribute__((always_inline)) {
        vec<float> acc = splat<float>(-__builtin_inff());
        for (long r3 = 0; r3 < 5; ++r3) {
          for (long r4 = 0; r4 < 5; ++r4) {
            acc = max(acc, load_where(x + ((((((i0 * 352) + (i1 * 22)) + i2) + (r3 * 22)) + r4) - 46), (splat_mask(((((i1 + r3) - 2) >= 0) & (((i1 + r3) - 2) < 16))) & (compare(((iota(i2) + splat<int>(int(r4))) - splat<int>(int(2))) >= splat<int>(int(0))) & compare(((iota(i2) + splat<int>(int(r4))) - splat<int>(int(2))) < splat<int>(int(22))))), splat<float>(-__builtin_inff()), n));
          }
        }
        store(out_window_max + (((i0 * 352) + (i1 * 22)) + i2), acc, n);
      });
    }
  }
}
    def forward(self, x):
        x = _expect("x", x, (2, 3, 16, 22), torch.float32)
        v1 = torch.empty((2, 3, 16, 22), dtype=torch.float32)
        _library.k0_max_pool2d(x.data_ptr(), v1.data_ptr())
        _warn_about_gradients(self)
        return v1

>>> triton
@triton.jit
def k0_max_pool2d(x, out_window_max):
    pid = tl.program_id(0)
    row = pid * 32 + tl.arange(0, 32)
    out_window_max_so_far = tl.full([32], float("-inf"), tl.float32)
    x_at = x + row
    for r in tl.static_range(5):
        r_1 = tl.full([], r, tl.int32)
        for r_2 in tl.static_range(5):
            r_3 = tl.full([], r_2, tl.int32)
            i1 = (row // 22) % 16
            at = (r_1 + i1 + -2)
            i2 = row % 22
            at_1 = (r_3 + i2 + -2)
            x_ = tl.load(x_at + (r_1 * 22 + r_3 + -46), mask=(((at >= 0) & (at < 16)) & ((at_1 >= 0) & (at_1 < 22))), other=float("-inf"))
            out_window_max_so_far = tl.maximum(out_window_max_so_far, x_, propagate_nan=tl.PropagateNan.ALL)
    out_window_max_value = out_window_max_so_far  # max_pool2d
    tl.store(out_window_max + row, out_window_max_value)
    def forward(self, x):
        x = _expect("x", x, (2, 3, 16, 22), torch.float32)
        v1 = torch.empty((2, 3, 16, 22), dtype=torch.float32, device=_DEVICE)
        _launch(k0_max_pool2d, 66, x, v1, warps=1)
        _warn_about_gradients(self)
        return v1

====
program depthwise {
  %0 = input "x" : f32[2,5,12,10]
  %1 = param "w" : f32[5,1,3,3]
  %2 = param "b" : f32[5]
  %3 = conv2d(%0, %1, %2, groups=5, padding=[1,1]) : f32[2,5,12,10]
  %4 = relu(%3) : f32[2,5,12,10]
  return %4
}
kernel k0 = { %3 %4 } window
>>> cpu
// k0: conv2d, relu
extern "C" void k0_conv2d_relu(const float* __restrict x, const float* __restrict w, const float* __restrict b_, float* __restrict out_relu) {
  #pragma omp parallel for collapse(4) schedule(static)
  for (long i0 = 0; i0 < 2; ++i0)
  for (long i1 = 0; i1 < 5; ++i1)
  for (long i2 = 0; i2 < 12; ++i2)
  for (long b3 = 0; b3 < 10; b3 += 10) {
    const long e3 = b3 + 10;
    float* product = out_relu;
    {  // product: conv2d
      sweep(b3, e3, [&](long i3, auto n) __attribute__((always_inline)) {
        vec<float> acc = splat<float>(0);
        for (long r4 = 0; r4 < 3; ++r4) {
          for (long r5 = 0; r5 < 3; ++r5) {
            acc = acc + (load_where(x + (((((((i0 * 600) + (i1 * 120)) + (i2 * 10)) + i3) + (r4 * 10)) + r5) - 11), (splat_mask(((((i2 + r4) - 1) >= 0) & (((i2 + r4) - 1) < 12))) & (compare(((iota(i3) + splat<int>(int(r5))) - splat<int>(int(1))) >= splat<int>(int(0))) & compare(((iota(i3) + splat<int>(int(r5))) - splat<int>(int(1))) < splat<int>(int(10))))), splat<float>(0.0f), n) * splat<float>(w[(((i1 * 9) + (r4 * 3)) + r5)]));
          }
        }
        store(product + ((((i0 * 600) + (i1 * 120)) + (i2 * 10)) + i3), acc, n);
      });
    }
    // out_relu: relu
    sweep(b3, e3, [&](long i3, auto n) __attribute__((always_inline)) {
      store(out_relu + ((((i0 * 600) + (i1 * 120)) + (i2 * 10)) + i3), max((load(product + ((((i0 * 600) + (i1 * 120)) + (i2 * 10)) + i3), n) + splat<float>(b_[i1])), splat<float>(0.0f)), n);
    });
  }
}
    def forward(self, x):
        x = _expect("x", x, (2, 5, 12, 10), torch.float32)
        v1 = _expect("w", self.w, (5, 1, 3, 3), torch.float32)
        v2 = _expect("b", self.b, (5,), torch.float32)
        v4 = torch.empty((2, 5, 12, 10), dtype=torch.float32)
        _library.k0_conv2d_relu(x.data_ptr(), v1.data_ptr(), v2.data_ptr(), v4.data_ptr())
        _warn_about_gradients(self)
        return v4

>>> triton
@triton.jit
def k0_conv2d_relu(x, w, b_, out_relu):
    pid = tl.program_id(0)
    row = pid * 32 + tl.arange(0, 32)
    row_live = row < 1200
    product_so_far = tl.full([32], 0.0, tl.float32)
    x_at = x + row
    i1 = (row // 120) % 5
    w_at = w + (i1 * 9)
    for r in tl.static_range(3):
        r_1 = tl.full([], r, tl.int32)
        for r_2 in tl.static_range(3):
            r_3 = tl.full([], r_2, tl.int32)
            i2 = (row // 10) % 12
            at = (r_1 + i2 + -1)
            i3 = row % 10
            at_1 = (r_3 + i3 + -1)
            x_ = tl.load(x_at + (r_1 * 10 + r_3 + -11), mask=row_live & (((at >= 0) & (at < 12)) & ((at_1 >= 0) & (at_1 < 10))), other=0.0)
            w_ = tl.load(w_at + (r_1 * 3 + r_3), mask=row_live, other=0)
            product_so_far += (x_ * w_)
    product_value = product_so_far  # conv2d
    b__ = tl.load(b_ + i1, mask=row_live, other=0)
    out_relu_value = tl.maximum((product_value + b__), 0.0, propagate_nan=tl.PropagateNan.ALL)  # relu
    tl.store(out_relu + row, out_relu_value, mask=row_live)
    def forward(self, x):
        x = _expect("x", x, (2, 5, 12, 10), torch.float32)
        v1 = _expect("w", self.w, (5, 1, 3, 3), torch.float32)
        v2 = _expect("b", self.b, (5,), torch.float32)
        v4 = torch.empty((2, 5, 12, 10), dtype=torch.float32, device=_DEVICE)
        _launch(k0_conv2d_relu, 38, x, v1, v2, v4, warps=1)
        _warn_about_gradients(self)
        return v4

