program softmax {
  %0 = input "x" : f32[33,1000]
  %1 = softmax(%0, dim=-1) : f32[33,1000]
  return %1
}
kernel k0 = { %1 } reduction
>>> cpu
// k0: softmax
extern "C" void k0_softmax(const float* __restrict x, float* __restrict out_softmax) {
  #pragma omp parallel for schedule(static)
  for (long i0 = 0; i0 < 33; ++i0) {
    alignas(64) float row_max[1];
    float* exps = out_softmax;
    alignas(64) float row_sum[1];
    {  // row_max: softmax
      float total = -__builtin_inff();
      vec<float> acc[4];
      for (auto& one : acc) one = splat<float>(-__builtin_inff());
      sweep_unrolled<4>(0, 1000, [&](long r1, auto n, int u) __attribute__((always_inline)) {
        acc[u] = keep(n, max(acc[u], load(x + ((i0 * 1000) + r1), n)), acc[u]);
      });
      for (int u = 1; u < 4; ++u) acc[0] = max(acc[0], acc[u]);
      total = max<float>(total, hmax(acc[0]));
      row_max[0] = total;
    }
    {  // exps, row_sum: softmax
      double total = 0;
      vec<float> acc[4];
      for (auto& one : acc) one = splat<float>(0);
      sweep_unrolled<4>(0, 1000, [&](long r1, auto n, int u) __attribute__((always_inline)) {
        const auto new_exps = exp((load(x + ((i0 * 1000) + r1), n) - splat<float>(row_max[0])));
        store(exps + ((i0 * 1000) + r1), new_exps, n);
        acc[u] = keep(n, acc[u] + new_exps, acc[u]);
      });
      for (int u = 1; u < 4; ++u) acc[0] = acc[0] + acc[u];
      total = total + hsum(acc[0]);
      row_sum[0] = float(total);
    }
    // out_softmax: softmax
    sweep(0, 1000, [&](long j1, auto n) __attribute__((always_inline)) {
      store(out_softmax + ((i0 * 1000) + j1), (load(exps + ((i0 * 1000) + j1), n) * splat<float>((1.0f / row_sum[0]))), n);
    });
  }
}
    def forward(self, x):
        x = _expect("x", x, (33, 1000), torch.float32)
        v1 = torch.empty((33, 1000), dtype=torch.float32)
        _library.k0_softmax(x.data_ptr(), v1.data_ptr())
        _warn_about_gradients(self)
        return v1

>>> triton
@triton.jit
def k0_softmax(x, out_softmax):
    pid = tl.program_id(0)
    row = pid
    column = tl.arange(0, 1024)
    column_live = column < 1000
    x_ = tl.load(x + (row * 1000 + column), mask=column_live, other=0)
    row_max_value = tl.reduce(tl.where(column_live, x_, float("-inf")), 0, _maximum)  # softmax
    exps_value = tl.exp((x_ - row_max_value))  # softmax
    row_sum_value = tl.sum(tl.where(column_live, exps_value, 0.0), axis=0)  # softmax
    out_softmax_value = (exps_value * (1.0 / row_sum_value))  # softmax
    tl.store(out_softmax + (row * 1000 + column), out_softmax_value, mask=column_live)
    def forward(self, x):
        x = _expect("x", x, (33, 1000), torch.float32)
        v1 = torch.empty((33, 1000), dtype=torch.float32, device=_DEVICE)
        _launch(k0_softmax, 33, x, v1, warps=4)
        _warn_about_gradients(self)
        return v1

====
program layer_norm_in_tiles {
  %0 = input "x" : f32[17,300]
  %1 = param "w" : f32[300]
  %2 = param "b" : f32[300]
  %3 = layer_norm(%0, %1, %2, normalized_shape=[300]) : f32[17,300]
  return %3
}
kernel k0 = { %3 } reduction tiled
>>> cpu
// k0: layer_norm
extern "C" void k0_layer_norm(const float* __restrict x, const float* __restrict w, const float* __restrict b_, float* __restrict out_normalised) {
  #pragma omp parallel for schedule(static)
  for (long i0 = 0; i0 < 17; ++i0) {
    alignas(64) float sum[1];
    alignas(64) float squares[1];
    alignas(64) float inverse[1];
    {  // sum: layer_norm
      double total = 0;
      vec<float> acc[4];
      for (auto& one : acc) one = splat<float>(0);
      sweep_unrolled<4>(0, 300, [&](long r1, auto n, int u) __attribute__((always_inline)) {
        acc[u] = keep(n, acc[u] + (load(x + ((i0 * 300) + r1), n) - splat<float>(x[(i0 * 300)])), acc[u]);
      });
      for (int u = 1; u < 4; ++u) acc[0] = acc[0] + acc[u];
      total = total + hsum(acc[0]);
      sum[0] = float(total);
    }
    {  // squares: layer_norm
      double total = 0;
      vec<float> acc[4];
      for (auto& one : acc) one = splat<float>(0);
      sweep_unrolled<4>(0, 300, [&](long r1, auto n, int u) __attribute__((always_inline)) {
        const auto t0 = (load(x + ((i0 * 300) + r1), n) - splat<float>((x[(i0 * 300)] + (sum[0] / 300.0f))));
        acc[u] = keep(n, acc[u] + (t0 * t0), acc[u]);
      });
      for (int u = 1; u < 4; ++u) acc[0] = acc[0] + acc[u];
      total = total + hsum(acc[0]);
      squares[0] = float(total);
    }
    // inverse: layer_norm
    inverse[0] = (1 / sqrt(((squares[0] / 300.0f) + 9.999999747378752e-06f)));
    // out_normalised: layer_norm
    sweep(0, 300, [&](long j1, auto n) __attribute__((always_inline)) {
      store(out_normalised + ((i0 * 300) + j1), ((((load(x + ((i0 * 300) + j1), n) - splat<float>((x[(i0 * 300)] + (sum[0] / 300.0f)))) * splat<float>(inverse[0])) * load(w + j1, n)) + load(b_ + j1, n)), n);
    });
  }
}
    def forward(self, x):
        x = _expect("x", x, (17, 300), torch.float32)
        v1 = _expect("w", self.w, (300,), torch.float32)
        v2 = _expect("b", self.b, (300,), torch.float32)
        v3 = torch.empty((17, 300), dtype=torch.float32)
        _library.k0_layer_norm(x.data_ptr(), v1.data_ptr(), v2.data_ptr(), v3.data_ptr())
        _warn_about_gradients(self)
        return v3

>>> triton
@triton.jit
def k0_layer_norm(x, w, b_, out_normalised):
    pid = tl.program_id(0)
    row = pid
    column = tl.arange(0, 512)
    column_live = column < 300
    x_ = tl.load(x + (row * 300 + column), mask=column_live, other=0)
    x__1 = tl.load(x + (row * 300))
    sum_value = tl.sum(tl.where(column_live, (x_ - x__1), 0.0), axis=0)  # layer_norm
    t = (x_ - (x__1 + (sum_value / 300.0)))
    squares_value = tl.sum(tl.where(column_live, (t * t), 0.0), axis=0)  # layer_norm
    inverse_value = tl.rsqrt(((squares_value / 300.0) + 1e-05))  # layer_norm
    w_ = tl.load(w + column, mask=column_live, other=0)
    b__ = tl.load(b_ + column, mask=column_live, other=0)
    out_normalised_value = (((t * inverse_value) * w_) + b__)  # layer_norm
    tl.store(out_normalised + (row * 300 + column), out_normalised_value, mask=column_live)
    def forward(self, x):
        x = _expect("x", x, (17, 300), torch.float32)
        v1 = _expect("w", self.w, (300,), torch.float32)
        v2 = _expect("b", self.b, (300,), torch.float32)
        v3 = torch.empty((17, 300), dtype=torch.float32, device=_DEVICE)
        _launch(k0_layer_norm, 17, x, v1, v2, v3, warps=1)
        _warn_about_gradients(self)
        return v3

====
program total {
  %0 = input "x" : f32[600,500]
  %1 = sum(%0) : f32[]
  return %1
}
kernel k0 = { %1 } reduction split
>>> cpu
// k0: sum
extern "C" void k0_sum(const float* __restrict x, float* __restrict out_sum) {
  {  // out_sum: sum
    constexpr long parts = 64;
    double partial[parts];
    #pragma omp parallel for schedule(static)
    for (long p = 0; p < parts; ++p) {
      double total = 0;
      for (long part = p * 300000 / parts; part < (p + 1) * 300000 / parts; part += 4096) {
        vec<float> acc[4];
        for (auto& one : acc) one = splat<float>(0);
        sweep_unrolled<4>(part, std::min<long>(part + 4096, (p + 1) * 300000 / parts), [&](long r0, auto n, int u) __attribute__((always_inline)) {
          acc[u] = keep(n, acc[u] + load(x + r0, n), acc[u]);
        });
        for (int u = 1; u < 4; ++u) acc[0] = acc[0] + acc[u];
        total = total + hsum(acc[0]);
      }
      partial[p] = total;
    }
    double all = 0;
    for (long p = 0; p < parts; ++p) all = all + partial[p];
    out_sum[0] = float(all);
  }
}
    def forward(self, x):
        x = _expect("x", x, (600, 500), torch.float32)
        v1 = torch.empty((), dtype=torch.float32)
        _library.k0_sum(x.data_ptr(), v1.data_ptr())
        _warn_about_gradients(self)
        return v1

>>> triton
@triton.jit
def k0_out_sum_partial(x, out_sum_partial):
    _wait()
    pid = tl.program_id(0)
    row = pid * 2 + tl.arange(0, 2)
    column = tl.arange(0, 512)
    column_live = column < 293
    at = (row[:, None] * 293 + column[None, :])
    t = (at < 300000)
    x_ = tl.load(x + (row[:, None] * 293 + column[None, :]), mask=column_live[None, :] & t, other=0.0)
    out_sum_partial_value = tl.sum(tl.where(column_live[None, :], tl.where(t, x_, 0.0), 0.0), axis=1, keep_dims=True)  # sum
    tl.store(out_sum_partial + (row[:, None]), out_sum_partial_value)


@triton.jit
def k0_out_sum(out_sum_partial, out_sum):
    _wait()
    pid = tl.program_id(0)
    column = tl.arange(0, 1024)
    out_sum_partial_ = tl.load(out_sum_partial + column)
    out_sum_value = tl.sum(out_sum_partial_, axis=0)  # sum
    tl.store(out_sum, out_sum_value)
    def forward(self, x):
        x = _expect("x", x, (600, 500), torch.float32)
        v1 = torch.empty((), dtype=torch.float32, device=_DEVICE)
        _k0_out_sum_partial = _scratch("k0_out_sum_partial", 1024, torch.float32)
        _launch(k0_out_sum_partial, 512, x, _k0_out_sum_partial, warps=4)
        _launch(k0_out_sum, 1, _k0_out_sum_partial, v1, warps=4)
        _warn_about_gradients(self)
        return v1

