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
    {  // out_softmax: softmax
      const float u0 = (1.0f / row_sum[0]);
      sweep(0, 1000, [&](long j1, auto n) __attribute__((always_inline)) {
        store(out_softmax + ((i0 * 1000) + j1), (load(exps + ((i0 * 1000) + j1), n) * splat<float>(u0)), n);
      });
    }
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
      const float u0 = (x[(i0 * 300)] + (sum[0] / 300.0f));
      sweep_unrolled<4>(0, 300, [&](long r1, auto n, int u) __attribute__((always_inline)) {
        const auto t0 = (load(x + ((i0 * 300) + r1), n) - splat<float>(u0));
        acc[u] = keep(n, acc[u] + (t0 * t0), acc[u]);
      });
      for (int u = 1; u < 4; ++u) acc[0] = acc[0] + acc[u];
      total = total + hsum(acc[0]);
      squares[0] = float(total);
    }
    // inverse: layer_norm
    inverse[0] = (1 / sqrt(((squares[0] / 300.0f) + 9.999999747378752e-06f)));
    {  // out_normalised: layer_norm
      const float u0 = (x[(i0 * 300)] + (sum[0] / 300.0f));
      sweep(0, 300, [&](long j1, auto n) __attribute__((always_inline)) {
        store(out_normalised + ((i0 * 300) + j1), ((((load(x + ((i0 * 300) + j1), n) - splat<float>(u0)) * splat<float>(inverse[0])) * load(w + j1, n)) + load(b_ + j1, n)), n);
      });
    }
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

====
program gate {
  %0 = input "logits" : f32[512,64]
  %1 = softmax(%0, dim=-1) : f32[512,64]
  %2, %3 = topk(%1, k=2) : f32[512,2], i64[512,2]
  %4 = sum(%2, dim=[-1], keepdim=true) : f32[512,1]
  %5 = div(%2, %4) : f32[512,2]
  return %5, %3
}
kernel k0 = { %1 %2 %3 %4 %5 } reduction
>>> cpu
// k0: softmax, topk, sum, div
extern "C" void k0_softmax_topk_sum_div(const float* __restrict logits, long* __restrict out_indices, float* __restrict out_div) {
  #pragma omp parallel for schedule(static)
  for (long i0 = 0; i0 < 512; ++i0) {
    alignas(64) float row_max[1];
    alignas(64) float exps[64];
    alignas(64) float row_sum[1];
    alignas(64) float chosen[1];
    alignas(64) int place[1];
    alignas(64) float chosen_2[1];
    alignas(64) int place_2[1];
    alignas(64) float sum[1];
    {  // row_max: softmax
      float total = -__builtin_inff();
      vec<float> acc[4];
      for (auto& one : acc) one = splat<float>(-__builtin_inff());
      sweep_unrolled<4>(0, 64, [&](long r1, auto n, int u) __attribute__((always_inline)) {
        acc[u] = keep(n, max(acc[u], load(logits + ((i0 * 64) + r1), n)), acc[u]);
      });
      for (int u = 1; u < 4; ++u) acc[0] = max(acc[0], acc[u]);
      total = max<float>(total, hmax(acc[0]));
      row_max[0] = total;
    }
    {  // exps, row_sum: softmax
      double total = 0;
      vec<float> acc[4];
      for (auto& one : acc) one = splat<float>(0);
      sweep_unrolled<4>(0, 64, [&](long r1, auto n, int u) __attribute__((always_inline)) {
        const auto new_exps = exp((load(logits + ((i0 * 64) + r1), n) - splat<float>(row_max[0])));
        store(exps + r1, new_exps, n);
        acc[u] = keep(n, acc[u] + new_exps, acc[u]);
      });
      for (int u = 1; u < 4; ++u) acc[0] = acc[0] + acc[u];
      total = total + hsum(acc[0]);
      row_sum[0] = float(total);
    }
    {  // chosen: topk
      float total = -__builtin_inff();
      vec<float> acc[4];
      for (auto& one : acc) one = splat<float>(-__builtin_inff());
      const float u0 = (1.0f / row_sum[0]);
      sweep_unrolled<4>(0, 64, [&](long r1, auto n, int u) __attribute__((always_inline)) {
        acc[u] = keep(n, max(acc[u], (load(exps + r1, n) * splat<float>(u0))), acc[u]);
      });
      for (int u = 1; u < 4; ++u) acc[0] = max(acc[0], acc[u]);
      total = max<float>(total, hmax(acc[0]));
      chosen[0] = total;
    }
    {  // place: topk
      int total = INT32_MAX;
      vec<int> acc[4];
      for (auto& one : acc) one = splat<int>(INT32_MAX);
      const float u0 = (1.0f / row_sum[0]);
      sweep_unrolled<4>(0, 64, [&](long r1, auto n, int u) __attribute__((always_inline)) {
        const auto t0 = (load(exps + r1, n) * splat<float>(u0));
        acc[u] = keep(n, min(acc[u], select((compare(t0 == splat<float>(chosen[0])) | compare(t0 != t0)), iota(r1), splat<int>(63))), acc[u]);
      });
      for (int u = 1; u < 4; ++u) acc[0] = min(acc[0], acc[u]);
      total = min<int>(total, hmin(acc[0]));
      place[0] = total;
    }
    {  // chosen_2: topk
      float total = -__builtin_inff();
      vec<float> acc[4];
      for (auto& one : acc) one = splat<float>(-__builtin_inff());
      const float u0 = (1.0f / row_sum[0]);
      sweep_unrolled<4>(0, 64, [&](long r1, auto n, int u) __attribute__((always_inline)) {
        acc[u] = keep(n, max(acc[u], select(compare(splat<int>(place[0]) == iota(r1)), splat<float>(-__builtin_inff()), (load(exps + r1, n) * splat<float>(u0)))), acc[u]);
      });
      for (int u = 1; u < 4; ++u) acc[0] = max(acc[0], acc[u]);
      total = max<float>(total, hmax(acc[0]));
      chosen_2[0] = total;
    }
    {  // place_2: topk
      int total = INT32_MAX;
      vec<int> acc[4];
      for (auto& one : acc) one = splat<int>(INT32_MAX);
      const float u0 = (1.0f / row_sum[0]);
      sweep_unrolled<4>(0, 64, [&](long r1, auto n, int u) __attribute__((always_inline)) {
        const auto t0 = iota(r1);
        const auto t1 = (load(exps + r1, n) * splat<float>(u0));
        acc[u] = keep(n, min(acc[u], select(compare(splat<int>(place[0]) == t0), splat<int>(63), select((compare(t1 == splat<float>(chosen_2[0])) | compare(t1 != t1)), t0, splat<int>(63)))), acc[u]);
      });
      for (int u = 1; u < 4; ++u) acc[0] = min(acc[0], acc[u]);
      total = min<int>(total, hmin(acc[0]));
      place_2[0] = total;
    }
    // out_indices: topk
    for (long j1 = 0; j1 < 2; ++j1) {
      out_indices[((i0 * 2) + j1)] = ((j1 == 0) ? long(place[0]) : long(place_2[0]));
    }
    {  // sum: sum
      double total = 0;
      for (long r1 = 0; r1 < 2; ++r1) {
        total = total + ((r1 == 0) ? chosen[0] : chosen_2[0]);
      }
      sum[0] = float(total);
    }
    // out_div: div
    for (long j1 = 0; j1 < 2; ++j1) {
      out_div[((i0 * 2) + j1)] = (((j1 == 0) ? chosen[0] : chosen_2[0]) / sum[0]);
    }
  }
}
    def forward(self, logits):
        logits = _expect("logits", logits, (512, 64), torch.float32)
        v3 = torch.empty((512, 2), dtype=torch.int64)
        v5 = torch.empty((512, 2), dtype=torch.float32)
        _library.k0_softmax_topk_sum_div(logits.data_ptr(), v3.data_ptr(), v5.data_ptr())
        _warn_about_gradients(self)
        return (v5, v3)

>>> triton
@triton.jit
def k0_softmax_topk_sum_div(logits, out_indices, out_div):
    pid = tl.program_id(0)
    row = pid
    column = tl.arange(0, 64)
    logits_ = tl.load(logits + (row * 64 + column))
    row_max_value = tl.reduce(logits_, 0, _maximum)  # softmax
    exps_value = tl.exp((logits_ - row_max_value))  # softmax
    row_sum_value = tl.sum(exps_value, axis=0)  # softmax
    chosen_value = tl.reduce((exps_value * (1.0 / row_sum_value)), 0, _maximum)  # topk
    t = (exps_value * (1.0 / row_sum_value))
    place_value = tl.min(tl.where(((t == chosen_value) | (t != t)), (column).to(tl.int32), 63), axis=0)  # topk
    chosen_2_value = tl.reduce(tl.where((place_value == (column).to(tl.int32)), float("-inf"), t), 0, _maximum)  # topk
    t_1 = (column).to(tl.int32)
    place_2_value = tl.min(tl.where((place_value == t_1), 63, tl.where(((t == chosen_2_value) | (t != t)), t_1, 63)), axis=0)  # topk
    for r in tl.static_range(2):
        r_1 = tl.full([], r, tl.int32)
        out_indices_value = tl.where((r_1 == 0), (place_value).to(tl.int64), (place_2_value).to(tl.int64))  # topk
        tl.store(out_indices + (r_1 + row * 2), out_indices_value)
    sum_so_far = tl.full([], 0.0, tl.float32)
    for r_2 in tl.static_range(2):
        r_3 = tl.full([], r_2, tl.int32)
        sum_so_far += tl.where((r_3 == 0), chosen_value, chosen_2_value)
    sum_value = sum_so_far  # sum
    for r_4 in tl.static_range(2):
        r_5 = tl.full([], r_4, tl.int32)
        out_div_value = (tl.where((r_5 == 0), chosen_value, chosen_2_value) / sum_value)  # div
        tl.store(out_div + (r_5 + row * 2), out_div_value)
    def forward(self, logits):
        logits = _expect("logits", logits, (512, 64), torch.float32)
        v3 = torch.empty((512, 2), dtype=torch.int64, device=_DEVICE)
        v5 = torch.empty((512, 2), dtype=torch.float32, device=_DEVICE)
        _launch(k0_softmax_topk_sum_div, 512, logits, v3, v5, warps=1)
        _warn_about_gradients(self)
        return (v5, v3)

====
program bags {
  %0 = input "words" : i64[8192]
  %1 = param "table" : f32[1000,64]
  %2 = embedding_bag(%1, %0, bag=16, padding_idx=0) : f32[512,64]
  return %2
}
kernel k0 = { %2 } reduction
>>> cpu
// k0: embedding_bag
extern "C" void k0_embedding_bag(const long* __restrict words, const float* __restrict table, float* __restrict out_sum) {
  #pragma omp parallel for collapse(2) schedule(static)
  for (long i0 = 0; i0 < 512; ++i0)
  for (long b1 = 0; b1 < 64; b1 += 64) {
    const long e1 = b1 + 64;
    {  // out_sum: embedding_bag
      sweep_blocks<4>(b1, e1, [&](long first, auto n, auto side) __attribute__((always_inline)) {
        vec<float> acc[side.value];
        for (auto& one : acc) one = splat<float>(0);
        for (long r2 = 0; r2 < 16; ++r2) {
          const long named = words[std::min<long>(((i0 * 16) + r2) + 16, 8191)];
          #pragma GCC unroll 8
          for (int u = 0; u < side.value; ++u) {
            const long i1 = first + u * W;
            prefetch(table + (i1 + (named * 64)));
          }
          const bool u0 = (words[((i0 * 16) + r2)] != 0);
          #pragma GCC unroll 8
          for (int u = 0; u < side.value; ++u) {
            const long i1 = first + u * W;
            acc[u] = acc[u] + select(splat_mask(u0), load(table + (i1 + (words[((i0 * 16) + r2)] * 64)), n), splat<float>(0.0f));
          }
        }
        #pragma GCC unroll 8
        for (int u = 0; u < side.value; ++u) {
          const long i1 = first + u * W;
          store(out_sum + ((i0 * 64) + i1), acc[u], n);
        }
      });
    }
  }
}
    def forward(self, words):
        words = _expect("words", words, (8192,), torch.int64)
        v1 = _expect("table", self.table, (1000, 64), torch.float32)
        v2 = torch.empty((512, 64), dtype=torch.float32)
        _library.k0_embedding_bag(words.data_ptr(), v1.data_ptr(), v2.data_ptr())
        _warn_about_gradients(self)
        return v2

>>> triton
@triton.jit
def k0_embedding_bag(words, table, out_sum):
    pid = tl.program_id(0)
    column = tl.arange(0, 64)
    row = pid * 64 + tl.arange(0, 64)
    out_sum_so_far = tl.full([64, 64], 0.0, tl.float32)
    words_at = words + (row[:, None] * 16)
    table_at = table + (column[None, :])
    for r in tl.static_range(16):
        r_1 = tl.full([], r, tl.int32)
        words_ = tl.load(words_at + r_1)
        table_ = tl.load(table_at + (words_ * 64))
        out_sum_so_far += tl.where((words_ != 0), table_, 0.0)
    out_sum_value = out_sum_so_far  # embedding_bag
    tl.store(out_sum + (row[:, None] * 64 + column[None, :]), out_sum_value)
    def forward(self, words):
        words = _expect("words", words, (8192,), torch.int64)
        v1 = _expect("table", self.table, (1000, 64), torch.float32)
        v2 = torch.empty((512, 64), dtype=torch.float32, device=_DEVICE)
        _launch(k0_embedding_bag, 8, words, v1, v2, warps=8)
        _warn_about_gradients(self)
        return v2

