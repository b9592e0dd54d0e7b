program bias_gelu {
  %0 = input "x" : f32[64,48]
  %1 = param "b" : f32[48]
  %2 = add(%0, %1) : f32[64,48]
  %3 = gelu(%2) : f32[64,48]
  return %3
}
kernel k0 = { %2 %3 } pointwise
>>> cpu
// k0: add, gelu
extern "C" void k0_add_gelu(const float* __restrict x, const float* __restrict b_, float* __restrict out_gelu) {
  #pragma omp parallel for collapse(2) schedule(static)
  for (long i0 = 0; i0 < 64; ++i0)
  for (long b1 = 0; b1 < 48; b1 += 48) {
    const long e1 = b1 + 48;
    // out_gelu: gelu
    sweep(b1, e1, [&](long i1, auto n) __attribute__((always_inline)) {
      const auto t0 = (load(x + ((i0 * 48) + i1), n) + load(b_ + i1, n));
      store(out_gelu + ((i0 * 48) + i1), ((t0 * splat<float>(0.5f)) * (splat<float>(1.0f) + erf((t0 * splat<float>(0.7071067690849304f))))), n);
    });
  }
}
    def forward(self, x):
        x = _expect("x", x, (64, 48), torch.float32)
        v1 = _expect("b", self.b, (48,), torch.float32)
        v3 = torch.empty((64, 48), dtype=torch.float32)
        _library.k0_add_gelu(x.data_ptr(), v1.data_ptr(), v3.data_ptr())
        _warn_about_gradients(self)
        return v3

>>> triton
@triton.jit
def k0_add_gelu(x, b_, out_gelu):
    pid = tl.program_id(0)
    row = pid * 32 + tl.arange(0, 32)
    x_ = tl.load(x + row)
    i1 = row % 48
    b__ = tl.load(b_ + i1)
    t = (x_ + b__)
    out_gelu_value = ((t * 0.5) * (1.0 + tl.erf((t * 0.7071067811865475))))  # gelu
    tl.store(out_gelu + row, out_gelu_value)
    def forward(self, x):
        x = _expect("x", x, (64, 48), torch.float32)
        v1 = _expect("b", self.b, (48,), torch.float32)
        v3 = torch.empty((64, 48), dtype=torch.float32, device=_DEVICE)
        _launch(k0_add_gelu, 96, x, v1, v3, warps=1)
        _warn_about_gradients(self)
        return v3

====
program transposed_halves_scaled {
  %0 = input "x" : f16[3,40,50]
  %1 = input "y" : f32[40]
  %2 = transpose(%0, dim0=1, dim1=2) : f16[3,50,40]
  %3 = mul(%2, %1) : f32[3,50,40]
  return %3
}
kernel k0 = { %2 %3 } pointwise
>>> cpu
// k0: transpose, mul
extern "C" void k0_transpose_mul(const _Float16* __restrict x, const float* __restrict y, float* __restrict out_mul) {
  for (long i0 = 0; i0 < 3; ++i0)
  for (long b1 = 0; b1 < 50; b1 += 50)
  for (long i2 = 0; i2 < 40; ++i2) {
    const long e1 = b1 + 50;
    // out_mul: mul
    sweep(b1, e1, [&](long i1, auto n) __attribute__((always_inline)) {
      store_strided(out_mul + (((i0 * 2000) + (i1 * 40)) + i2), 40, (load(x + (((i0 * 2000) + i1) + (i2 * 50)), n) * splat<float>(y[i2])), n);
    });
  }
}
    def forward(self, x, y):
        x = _expect("x", x, (3, 40, 50), torch.float16)
        y = _expect("y", y, (40,), torch.float32)
        v3 = torch.empty((3, 50, 40), dtype=torch.float32)
        _library.k0_transpose_mul(x.data_ptr(), y.data_ptr(), v3.data_ptr())
        _warn_about_gradients(self)
        return v3

>>> triton
@triton.jit
def k0_transpose_mul(x, y, out_mul):
    pid = tl.program_id(0)
    column = tl.arange(0, 64)
    column_live = column < 40
    row = tl.arange(0, 64)
    row_live = row < 50
    x_ = tl.load(x + (pid * 2000 + row[:, None] + column[None, :] * 50), mask=row_live[:, None] & column_live[None, :], other=0)
    y_ = tl.load(y + (column[None, :]), mask=column_live[None, :], other=0)
    out_mul_value = ((x_).to(tl.float32) * y_)  # mul
    tl.store(out_mul + (pid * 2000 + row[:, None] * 40 + column[None, :]), out_mul_value, mask=row_live[:, None] & column_live[None, :])
    def forward(self, x, y):
        x = _expect("x", x, (3, 40, 50), torch.float16)
        y = _expect("y", y, (40,), torch.float32)
        v3 = torch.empty((3, 50, 40), dtype=torch.float32, device=_DEVICE)
        _launch(k0_transpose_mul, 3, x, y, v3, warps=8)
        _warn_about_gradients(self)
        return v3

