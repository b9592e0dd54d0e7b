program transposed {
  %0 = input "x" : f32[3,40,50]
  %1 = transpose(%0, dim0=1, dim1=2) : f32[3,50,40]
  return %1
}
kernel k0 = { %1 } movement
>>> cpu
// k0: transpose
extern "C" void k0_transpose(const float* __restrict x, float* __restrict out_transpose) {
  for (long i0 = 0; i0 < 3; ++i0)
  for (long i1 = 0; i1 < 50; ++i1)
  for (long b2 = 0; b2 < 40; b2 += 40) {
    const long e2 = b2 + 40;
    // out_transpose: transpose
    sweep(b2, e2, [&](long i2, auto n) __attribute__((always_inline)) {
      store(out_transpose + (((i0 * 2000) + (i1 * 40)) + i2), load_strided(x + (((i0 * 2000) + i1) + (i2 * 50)), 50, n), n);
    });
  }
}
    def forward(self, x):
        x = _expect("x", x, (3, 40, 50), torch.float32)
        v1 = torch.empty((3, 50, 40), dtype=torch.float32)
        _library.k0_transpose(x.data_ptr(), v1.data_ptr())
        _warn_about_gradients(self)
        return v1

>>> triton
@triton.jit
def k0_transpose(x, out_transpose):
    pid = tl.program_id(0)
    column = tl.arange(0, 64)
    column_live = column < 40
    row = tl.arange(0, 64)
    row_live = row < 50
    x_ = tl.load(x + (pid * 2000 + row[:, None] + column[None, :] * 50), mask=row_live[:, None] & column_live[None, :], other=0)
    out_transpose_value = x_  # transpose
    tl.store(out_transpose + (pid * 2000 + row[:, None] * 40 + column[None, :]), out_transpose_value, mask=row_live[:, None] & column_live[None, :])
    def forward(self, x):
        x = _expect("x", x, (3, 40, 50), torch.float32)
        v1 = torch.empty((3, 50, 40), dtype=torch.float32, device=_DEVICE)
        _launch(k0_transpose, 3, x, v1, warps=8)
        _warn_about_gradients(self)
        return v1

====
program joined {
  %0 = input "x" : f32[12,40]
  %1 = input "y" : f32[12,8]
  %2 = cat(%0, %1, dim=1) : f32[12,48]
  return %2
}
kernel k0 = { %2 } movement
>>> cpu
// k0: cat
extern "C" void k0_cat(const float* __restrict x, const float* __restrict y, float* __restrict out_cat) {
  for (long i0 = 0; i0 < 12; ++i0)
  for (long b1 = 0; b1 < 48; b1 += 48) {
    const long e1 = b1 + 48;
    // out_cat: cat
    sweep(b1, e1, [&](long i1, auto n) __attribute__((always_inline)) {
      store(out_cat + ((i0 * 48) + i1), load_where(x + ((i0 * 40) + i1), compare(iota(i1) < splat<int>(int(40))), load_where(y + (((i0 * 8) + i1) - 40), compare(iota(i1) >= splat<int>(int(40))), splat<float>(0.0f), n), n), n);
    });
  }
}
    def forward(self, x, y):
        x = _expect("x", x, (12, 40), torch.float32)
        y = _expect("y", y, (12, 8), torch.float32)
        v2 = torch.empty((12, 48), dtype=torch.float32)
        _library.k0_cat(x.data_ptr(), y.data_ptr(), v2.data_ptr())
        _warn_about_gradients(self)
        return v2

>>> triton
@triton.jit
def k0_cat(x, y, out_cat):
    pid = tl.program_id(0)
    row = pid * 32 + tl.arange(0, 32)
    i1 = row % 48
    i0 = row // 48
    y_ = tl.load(y + (i1 + i0 * 8) + -40, mask=(i1 >= 40), other=0.0)
    x_ = tl.load(x + (i1 + i0 * 40), mask=(i1 < 40), other=y_)
    out_cat_value = x_  # cat
    tl.store(out_cat + row, out_cat_value)
    def forward(self, x, y):
        x = _expect("x", x, (12, 40), torch.float32)
        y = _expect("y", y, (12, 8), torch.float32)
        v2 = torch.empty((12, 48), dtype=torch.float32, device=_DEVICE)
        _launch(k0_cat, 18, x, y, v2, warps=1)
        _warn_about_gradients(self)
        return v2

