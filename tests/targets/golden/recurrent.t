program lstm {
  %0 = input "x" : f32[3,7,12]
  %1 = input "h" : f32[2,3,20]
  %2 = input "c" : f32[2,3,20]
  %3 = param "w0" : f32[80,12]
  %4 = param "u0" : f32[80,20]
  %5 = param "w1" : f32[80,20]
  %6 = param "u1" : f32[80,20]
  %7, %8, %9 = lstm(%0, %1, %2, %3, %4, %5, %6, batch_first=true, bidirectional=false, has_biases=false, num_layers=2) : f32[3,7,20], f32[2,3,20], f32[2,3,20]
  return %7, %8, %9
}
kernel k0 = { %7 %8 %9 } recurrent
>>> cpu
refused: building kernel k0: lstm has no definition: it is a library call
>>> triton
@triton.jit
def k0_lstm_split(v, axis: tl.constexpr):
    # v as (hi + lo / 2048) * unit, hi and lo in fp16; unit: a power of two for each index of the other axis. What is not finite
    # is in lo, its sign in hi: it meets the other operand's hi once, and a unit that is not 0.
    finite = tl.abs(v) < float("inf")
    exponent = (tl.max(tl.where(finite, tl.abs(v), 1.0), axis=axis).to(tl.int32, bitcast=True) >> 23) & 255
    up = tl.minimum(266 - exponent, 253)
    scaled = tl.where(finite, v * tl.expand_dims((up << 23).to(tl.float32, bitcast=True), axis), tl.where(v < 0, -1.0, 1.0))
    hi = scaled.to(tl.float16)
    lo = tl.where(finite, (scaled - hi.to(tl.float32)) * 2048.0, v).to(tl.float16)
    return hi, lo, ((254 - up) << 23).to(tl.float32, bitcast=True)


@triton.jit
def k0_lstm_dot(v, weight_hi, weight_lo, weight_unit):
    # v times split weights as exactly as fp32: three tensor core products in sums of their own.
    hi, lo, unit = k0_lstm_split(v, 1)
    scale = tl.expand_dims(unit, 1) * tl.expand_dims(weight_unit, 0)
    small = scale * (1.0 / 2048.0)
    return tl.dot(hi, weight_hi) * scale + (tl.dot(hi, weight_lo) * small + tl.dot(lo, weight_hi) * small)


@triton.jit
def k0_lstm_wait(counter, count):
    # A load that orders what follows it: an atomic addition of 0 would do the same, slower.
    while tl.inline_asm_elementwise("ld.acquire.gpu.global.u32 $0, [$1];", "=r,l", [counter], dtype=tl.int32, is_pure=False, pack=1) < count:
        pass
    tl.debug_barrier()


@triton.jit
def k0_lstm_tanh(x):
    z = x * x
    near = ((((-5.70498872745e-3 * z + 2.06390887954e-2) * z - 5.37397155531e-2) * z + 1.33314422036e-1) * z - 3.33332819422e-1) * z * x + x
    far = 1.0 - 2.0 / (tl.exp(2.0 * tl.abs(x)) + 1.0)
    return tl.where(tl.abs(x) < 0.625, near, tl.where(x < 0, -far, far))


@triton.jit
def k0_lstm_kernel(t0, t1, t2, t3, t4, t5, t6, y, final0, final1, between, ready, first_layer, last_layer, begin, end, WAIT: tl.constexpr):
    # A program is a slice of 4 units of one direction; it takes every 2th layer.
    program = tl.program_id(0)
    direction = program // 5 % 1
    n = tl.arange(0, 16)
    column = tl.arange(0, 16)
    part = column % 4
    unit = program % 5 * 4 + column // 4
    own = program % 5 * 4 + tl.arange(0, 4)
    row = part * 20 + unit
    of_input = (unit < 20)
    of_state = (unit < 20)
    here = (n[:, None] < 3) & (own[None, :] < 20)
    k = tl.arange(0, 32)
    u = tl.arange(0, 32)
    for layer in tl.range(first_layer + program // 5, last_layer, 2, num_stages=1):
        which = layer * 1 + direction
        input_weight = t3
        state_weight = t4
        if which == 1:
            input_weight = t5
            state_weight = t6
        inputs = 12
        source = t0 + 0
        source_time = 12
        source_row = 84
        source_step = 1
        target = between + layer * 420
        target_time = 3 * 20
        target_row = 20
        if layer > 0:
            inputs = 20
            source = between + (layer - 1) * 420
            source_time = 3 * 20
            source_row = 20
            source_step = 1
        if layer == 2 - 1:
            target = y
            target_time = 20
            target_row = 140
        weight = tl.load(input_weight + row[None, :] * inputs + k[:, None], mask=(k[:, None] < inputs) & of_input[None, :], other=0.0)
        input_hi, input_lo, input_unit = k0_lstm_split(weight, 0)
        weight = tl.load(state_weight + row[None, :] * 20 + u[:, None], mask=(u[:, None] < 20) & of_state[None, :], other=0.0)
        state_hi, state_lo, state_unit = k0_lstm_split(weight, 0)
        bias = tl.zeros([16], tl.float32)
        place = which * (3 * 20) + n[:, None] * 20 + own[None, :]
        start0 = t1
        if begin > 0:
            start0 = final0
        state0 = tl.load(start0 + place, mask=here, other=0.0)
        start1 = t2
        if begin > 0:
            start1 = final1
        state1 = tl.load(start1 + place, mask=here, other=0.0)
        for step in tl.range(begin, end, num_stages=1):
            time = step
            before = step - 1
            if direction == 1:
                time = 7 - 1 - step
                before = 7 - step
            # The input's part first: it is ready long before the state of the step before.
            if WAIT and layer > 0:
                k0_lstm_wait(ready + ((layer - 1) * 1 + 0) * 7 + time, 5)
            x = tl.load(source + time * source_time + n[:, None] * source_row + k[None, :] * source_step, mask=(n[:, None] < 3) & (k[None, :] < inputs), other=0.0)
            # Weights that are none are 0: what is not finite would not be 0 times them.
            sums = tl.where(of_input[None, :], k0_lstm_dot(x, input_hi, input_lo, input_unit), 0.0) + bias[None, :]
            past = t1 + which * (3 * 20)
            past_row = 20
            if step > 0:
                past = target + before * target_time + direction * 20
                past_row = target_row
                if WAIT:
                    k0_lstm_wait(ready + which * 7 + before, 5)
            h = tl.load(past + n[:, None] * past_row + u[None, :], mask=(n[:, None] < 3) & (u[None, :] < 20), other=0.0)
            sums += tl.where(of_state[None, :], k0_lstm_dot(h, state_hi, state_lo, state_unit), 0.0)
            even, odd = tl.split(tl.reshape(sums, (sums.shape[0], sums.shape[1] // 4, 2, 2)))
            sum0, sum2 = tl.split(even)
            sum1, sum3 = tl.split(odd)
            c0 = -sum3
            c1 = tl.exp(c0)
            c2 = 1.0 + c1
            c3 = 1.0 / c2
            c4 = -sum1
            c5 = tl.exp(c4)
            c6 = 1.0 + c5
            c7 = 1.0 / c6
            c8 = c7 * state1
            c9 = -sum0
            c10 = tl.exp(c9)
            c11 = 1.0 + c10
            c12 = 1.0 / c11
            c13 = k0_lstm_tanh(sum2)
            c14 = c12 * c13
            c15 = c8 + c14
            c16 = k0_lstm_tanh(c15)
            c17 = c3 * c16
            state0 = c17
            state1 = c15
            tl.store(target + time * target_time + n[:, None] * target_row + (direction * 20 + own[None, :]), state0, mask=here)
            if WAIT:
                tl.debug_barrier()
                tl.atomic_add(ready + which * 7 + time, 1, sem="release")
        tl.store(final0 + place, state0, mask=here)
        tl.store(final1 + place, state1, mask=here)


def k0_lstm(t0, t1, t2, t3, t4, t5, t6, y, final0, final1):
    between = torch.empty(420, device=_DEVICE)
    ready = torch.zeros(14, dtype=torch.int32, device=_DEVICE)
    if _DEVICE == "cpu":  # Triton's interpreter runs one program after the other: a launch for each layer and step
        for layer in range(2):
            for step in range(7):
                k0_lstm_kernel[(5,)](t0, t1, t2, t3, t4, t5, t6, y, final0, final1, between, ready, layer, layer + 1, step, step + 1, WAIT=False)
    def forward(self, x, h, c):
        x = _expect("x", x, (3, 7, 12), torch.float32)
        h = _expect("h", h, (2, 3, 20), torch.float32)
        c = _expect("c", c, (2, 3, 20), torch.float32)
        v3 = _expect("w0", self.w0, (80, 12), torch.float32)
        v4 = _expect("u0", self.u0, (80, 20), torch.float32)
        v5 = _expect("w1", self.w1, (80, 20), torch.float32)
        v6 = _expect("u1", self.u1, (80, 20), torch.float32)
        v7 = torch.empty((3, 7, 20), dtype=torch.float32, device=_DEVICE)
        v8 = torch.empty((2, 3, 20), dtype=torch.float32, device=_DEVICE)
        v9 = torch.empty((2, 3, 20), dtype=torch.float32, device=_DEVICE)
        k0_lstm(x, h, c, v3, v4, v5, v6, v7, v8, v9)
        _warn_about_gradients(self)
        return (v7, v8, v9)

====
program gru {
  %0 = input "x" : f32[7,3,12]
  %1 = input "h" : f32[1,3,20]
  %2 = param "w" : f32[60,12]
  %3 = param "u" : f32[60,20]
  %4 = param "bw" : f32[60]
  %5 = param "bu" : f32[60]
  %6, %7 = gru(%0, %1, %2, %3, %4, %5, batch_first=false, bidirectional=false, has_biases=true, num_layers=1) : f32[7,3,20], f32[1,3,20]
  return %6, %7
}
kernel k0 = { %6 %7 } recurrent
>>> cpu
refused: building kernel k0: gru has no definition: it is a library call
>>> triton
@triton.jit
def k0_gru_split(v, axis: tl.constexpr):
    # v as (hi + lo / 2048) * unit, hi and lo in fp16; unit: a power of two for each index of the other axis. What is not finite
    # is in lo, its sign in hi: it meets the other operand's hi once, and a unit that is not 0.
    finite = tl.abs(v) < float("inf")
    exponent = (tl.max(tl.where(finite, tl.abs(v), 1.0), axis=axis).to(tl.int32, bitcast=True) >> 23) & 255
    up = tl.minimum(266 - exponent, 253)
    scaled = tl.where(finite, v * tl.expand_dims((up << 23).to(tl.float32, bitcast=True), axis), tl.where(v < 0, -1.0, 1.0))
    hi = scaled.to(tl.float16)
    lo = tl.where(finite, (scaled - hi.to(tl.float32)) * 2048.0, v).to(tl.float16)
    return hi, lo, ((254 - up) << 23).to(tl.float32, bitcast=True)


@triton.jit
def k0_gru_dot(v, weight_hi, weight_lo, weight_unit):
    # v times split weights as exactly as fp32: three tensor core products in sums of their own.
    hi, lo, unit = k0_gru_split(v, 1)
    scale = tl.expand_dims(unit, 1) * tl.expand_dims(weight_unit, 0)
    small = scale * (1.0 / 2048.0)
    return tl.dot(hi, weight_hi) * scale + (tl.dot(hi, weight_lo) * small + tl.dot(lo, weight_hi) * small)


@triton.jit
def k0_gru_wait(counter, count):
    # A load that orders what follows it: an atomic addition of 0 would do the same, slower.
    while tl.inline_asm_elementwise("ld.acquire.gpu.global.u32 $0, [$1];", "=r,l", [counter], dtype=tl.int32, is_pure=False, pack=1) < count:
        pass
    tl.debug_barrier()


@triton.jit
def k0_gru_tanh(x):
    z = x * x
    near = ((((-5.70498872745e-3 * z + 2.06390887954e-2) * z - 5.37397155531e-2) * z + 1.33314422036e-1) * z - 3.33332819422e-1) * z * x + x
    far = 1.0 - 2.0 / (tl.exp(2.0 * tl.abs(x)) + 1.0)
    return tl.where(tl.abs(x) < 0.625, near, tl.where(x < 0, -far, far))


@triton.jit
def k0_gru_kernel(t0, t1, t2, t3, t4, t5, y, final0, between, ready, first_layer, last_layer, begin, end, WAIT: tl.constexpr):
    # A program is a slice of 4 units of one direction; it takes every 1th layer.
    program = tl.program_id(0)
    direction = program // 5 % 1
    n = tl.arange(0, 16)
    column = tl.arange(0, 16)
    part = column % 4
    unit = program % 5 * 4 + column // 4
    own = program % 5 * 4 + tl.arange(0, 4)
    row = tl.where(part == 3, 2, part) * 20 + unit
    of_input = (unit < 20) & (part != 3)
    of_state = (unit < 20) & (part != 2)
    here = (n[:, None] < 3) & (own[None, :] < 20)
    k = tl.arange(0, 16)
    u = tl.arange(0, 32)
    for layer in tl.range(first_layer + program // 5, last_layer, 1, num_stages=1):
        which = layer * 1 + direction
        input_weight = t2
        state_weight = t3
        input_bias = t4
        state_bias = t5
        inputs = 12
        source = t0 + 0
        source_time = 36
        source_row = 12
        source_step = 1
        target = between + layer * 420
        target_time = 3 * 20
        target_row = 20
        if layer > 0:
            inputs = 20
            source = between + (layer - 1) * 420
            source_time = 3 * 20
            source_row = 20
            source_step = 1
        if layer == 1 - 1:
            target = y
            target_time = 60
            target_row = 20
        weight = tl.load(input_weight + row[None, :] * inputs + k[:, None], mask=(k[:, None] < inputs) & of_input[None, :], other=0.0)
        input_hi, input_lo, input_unit = k0_gru_split(weight, 0)
        weight = tl.load(state_weight + row[None, :] * 20 + u[:, None], mask=(u[:, None] < 20) & of_state[None, :], other=0.0)
        state_hi, state_lo, state_unit = k0_gru_split(weight, 0)
        bias = tl.load(input_bias + row, mask=of_input, other=0.0) + tl.load(state_bias + row, mask=of_state, other=0.0)
        place = which * (3 * 20) + n[:, None] * 20 + own[None, :]
        start0 = t1
        if begin > 0:
            start0 = final0
        state0 = tl.load(start0 + place, mask=here, other=0.0)
        for step in tl.range(begin, end, num_stages=1):
            time = step
            before = step - 1
            if direction == 1:
                time = 7 - 1 - step
                before = 7 - step
            # The input's part first: it is ready long before the state of the step before.
            if WAIT and layer > 0:
                k0_gru_wait(ready + ((layer - 1) * 1 + 0) * 7 + time, 5)
            x = tl.load(source + time * source_time + n[:, None] * source_row + k[None, :] * source_step, mask=(n[:, None] < 3) & (k[None, :] < inputs), other=0.0)
            # Weights that are none are 0: what is not finite would not be 0 times them.
            sums = tl.where(of_input[None, :], k0_gru_dot(x, input_hi, input_lo, input_unit), 0.0) + bias[None, :]
            past = t1 + which * (3 * 20)
            past_row = 20
            if step > 0:
                past = target + before * target_time + direction * 20
                past_row = target_row
                if WAIT:
                    k0_gru_wait(ready + which * 7 + before, 5)
            h = tl.load(past + n[:, None] * past_row + u[None, :], mask=(n[:, None] < 3) & (u[None, :] < 20), other=0.0)
            sums += tl.where(of_state[None, :], k0_gru_dot(h, state_hi, state_lo, state_unit), 0.0)
            even, odd = tl.split(tl.reshape(sums, (sums.shape[0], sums.shape[1] // 4, 2, 2)))
            sum0, sum2 = tl.split(even)
            sum1, sum3 = tl.split(odd)
            c0 = -sum0
            c1 = tl.exp(c0)
            c2 = 1.0 + c1
            c3 = 1.0 / c2
            c4 = c3 * sum3
            c5 = sum2 + c4
            c6 = k0_gru_tanh(c5)
            c7 = -sum1
            c8 = tl.exp(c7)
            c9 = 1.0 + c8
            c10 = 1.0 / c9
            c11 = state0 - c6
            c12 = c10 * c11
            c13 = c6 + c12
            state0 = c13
            tl.store(target + time * target_time + n[:, None] * target_row + (direction * 20 + own[None, :]), state0, mask=here)
            if WAIT:
                tl.debug_barrier()
                tl.atomic_add(ready + which * 7 + time, 1, sem="release")
        tl.store(final0 + place, state0, mask=here)


def k0_gru(t0, t1, t2, t3, t4, t5, y, final0):
    between = torch.empty(1, device=_DEVICE)
    ready = torch.zeros(7, dtype=torch.int32, device=_DEVICE)
    if _DEVICE == "cpu":  # Triton's interpreter runs one program after the other: a launch for each layer and step
        for layer in range(1):
            for step in range(7):
                k0_gru_kernel[(5,)](t0, t1, t2, t3, t4, t5, y, final0, between, ready, layer, layer + 1, step, step + 1, WAIT=False)
    def forward(self, x, h):
        x = _expect("x", x, (7, 3, 12), torch.float32)
        h = _expect("h", h, (1, 3, 20), torch.float32)
        v2 = _expect("w", self.w, (60, 12), torch.float32)
        v3 = _expect("u", self.u, (60, 20), torch.float32)
        v4 = _expect("bw", self.bw, (60,), torch.float32)
        v5 = _expect("bu", self.bu, (60,), torch.float32)
        v6 = torch.empty((7, 3, 20), dtype=torch.float32, device=_DEVICE)
        v7 = torch.empty((1, 3, 20), dtype=torch.float32, device=_DEVICE)
        k0_gru(x, h, v2, v3, v4, v5, v6, v7)
        _warn_about_gradients(self)
        return (v6, v7)

