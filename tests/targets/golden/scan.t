program running_total {
  %0 = input "x" : f32[5,700]
  %1 = cumsum(%0, dim=1) : f32[5,700]
  return %1
}
kernel k0 = { %1 } scan
>>> cpu
// k0: cumsum
extern "C" void k0_cumsum(const float* __restrict x, float* __restrict out_cumsum) {
  for (long i0 = 0; i0 < 5; ++i0) {
    {  // out_cumsum: cumsum
      double carry = 0;
      sweep(0, 700, [&](long j1, auto n) __attribute__((always_inline)) {
        store(out_cumsum + ((i0 * 700) + j1), scan_sum(load(x + ((i0 * 700) + j1), n), carry), n);
      });
    }
  }
}
    def forward(self, x):
        x = _expect("x", x, (5, 700), torch.float32)
        v1 = torch.empty((5, 700), dtype=torch.float32)
        _library.k0_cumsum(x.data_ptr(), v1.data_ptr())
        _warn_about_gradients(self)
        return v1

>>> triton
@triton.jit
def k0_cumsum(x, out_cumsum):
    pid = tl.program_id(0)
    row = pid
    column = tl.arange(0, 1024)
    column_live = column < 700
    x_ = tl.load(x + (row * 700 + column), mask=column_live, other=0)
    t = (x_).to(tl.float64)
    out_cumsum_value = tl.cumsum(t, axis=0).to(tl.float32)  # cumsum
    tl.store(out_cumsum + (row * 700 + column), out_cumsum_value, mask=column_live)
    def forward(self, x):
        x = _expect("x", x, (5, 700), torch.float32)
        v1 = torch.empty((5, 700), dtype=torch.float32, device=_DEVICE)
        _launch(k0_cumsum, 5, x, v1, warps=4)
        _warn_about_gradients(self)
        return v1

====
program running_product_of_columns {
  %0 = input "x" : f32[2,35,6]
  %1 = cumprod(%0, dim=1) : f32[2,35,6]
  return %1
}
kernel k0 = { %1 } scan
>>> cpu
// k0: cumprod
extern "C" void k0_cumprod(const float* __restrict x, float* __restrict out_cumprod) {
  for (long i0 = 0; i0 < 2; ++i0)
  for (long b1 = 0; b1 < 6; b1 += 6) {
    const long e1 = b1 + 6;
    {  // out_cumprod: cumprod
      sweep(b1, e1, [&](long i1, auto n) __attribute__((always_inline)) {
        vec<double> carry = splat<double>(1);
        for (long j1 = 0; j1 < 35; ++j1) {
          carry = carry * convert<double>(load(x + (((i0 * 210) + (j1 * 6)) + i1), n));
          store(out_cumprod + (((i0 * 210) + (j1 * 6)) + i1), convert<float>(carry), n);
        }
      });
    }
  }
}
    def forward(self, x):
        x = _expect("x", x, (2, 35, 6), torch.float32)
        v1 = torch.empty((2, 35, 6), dtype=torch.float32)
        _library.k0_cumprod(x.data_ptr(), v1.data_ptr())
        _warn_about_gradients(self)
        return v1

>>> triton
@triton.jit
def k0_cumprod(x, out_cumprod):
    pid = tl.program_id(0)
    row = pid * 4 + tl.arange(0, 4)
    column = tl.arange(0, 64)
    column_live = column < 35
    i1 = row % 6
    i0 = row // 6
    x_ = tl.load(x + (i1[:, None] + i0[:, None] * 210 + column[None, :] * 6), mask=column_live[None, :], other=0)
    t = (x_).to(tl.float64)
    scan = tl.associative_scan(t, 1, _multiply)
    if tl.max((scan != scan).to(tl.int32)) > 0:
        scan, special = tl.associative_scan((t, _special(t)), 1, _multiply_in_turn)
    out_cumprod_value = scan.to(tl.float32)  # cumprod
    tl.store(out_cumprod + (i1[:, None] + i0[:, None] * 210 + column[None, :] * 6), out_cumprod_value, mask=column_live[None, :])
    def forward(self, x):
        x = _expect("x", x, (2, 35, 6), torch.float32)
        v1 = torch.empty((2, 35, 6), dtype=torch.float32, device=_DEVICE)
        _launch(k0_cumprod, 3, x, v1, warps=1)
        _warn_about_gradients(self)
        return v1

