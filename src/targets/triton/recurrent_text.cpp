#include "targets/triton/recurrent_text.h"

#include <map>
#include <vector>

#include "base/text.h"

namespace mtmc {

const std::string_view kRecurrentKernel = R"PY(@triton.jit
def `NAME`_split(v, axis: tl.constexpr):
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
def `NAME`_dot(v, weight_hi, weight_lo, weight_unit):
    # v times split weights as exactly as fp32: three tensor core products in sums of their own.
    hi, lo, unit = `NAME`_split(v, 1)
    scale = tl.expand_dims(unit, 1) * tl.expand_dims(weight_unit, 0)
    small = scale * (1.0 / 2048.0)
    return tl.dot(hi, weight_hi) * scale + (tl.dot(hi, weight_lo) * small + tl.dot(lo, weight_hi) * small)


@triton.jit
def `NAME`_wait(counter, count):
    # A load that orders what follows it: an atomic addition of 0 would do the same, slower.
    while tl.inline_asm_elementwise("ld.acquire.gpu.global.u32 $0, [$1];", "=r,l", [counter], dtype=tl.int32, is_pure=False, pack=1) < count:
        pass
    tl.debug_barrier()


@triton.jit
def `NAME`_tanh(x):
    z = x * x
    near = ((((-5.70498872745e-3 * z + 2.06390887954e-2) * z - 5.37397155531e-2) * z + 1.33314422036e-1) * z - 3.33332819422e-1) * z * x + x
    far = 1.0 - 2.0 / (tl.exp(2.0 * tl.abs(x)) + 1.0)
    return tl.where(tl.abs(x) < 0.625, near, tl.where(x < 0, -far, far))


@triton.jit
def `NAME`_kernel(`TENSORS`, between, ready, first_layer, last_layer, begin, end, WAIT: tl.constexpr):
    # A program is a slice of `UNITS` units of one direction; it takes every `WAVE`th layer.
    program = tl.program_id(0)
    direction = program // `SLICES` % `DIRECTIONS`
    n = tl.arange(0, `ROWS`)
    column = tl.arange(0, `COLUMNS`)
    part = column % `SUMS`
    unit = program % `SLICES` * `UNITS` + column // `SUMS`
    own = program % `SLICES` * `UNITS` + tl.arange(0, `UNITS`)
    row = `GATE` * `HIDDEN` + unit
    of_input = (unit < `HIDDEN`)`OF_INPUT`
    of_state = (unit < `HIDDEN`)`OF_STATE`
    here = (n[:, None] < `BATCH`) & (own[None, :] < `HIDDEN`)
    k = tl.arange(0, `INPUT_DEPTH`)
    u = tl.arange(0, `STATE_DEPTH`)
    for layer in tl.range(first_layer + program // `PER_LAYER`, last_layer, `WAVE`, num_stages=1):
        which = layer * `DIRECTIONS` + direction
`CHOOSE`        inputs = `INPUTS`
        source = `X` + `X_BASE`
        source_time = `X_TIME`
        source_row = `X_ROW`
        source_step = `X_STEP`
        target = between + layer * `SIZE`
        target_time = `BATCH` * `WIDE`
        target_row = `WIDE`
        if layer > 0:
            inputs = `WIDE`
            source = between + (layer - 1) * `SIZE`
            source_time = `BATCH` * `WIDE`
            source_row = `WIDE`
            source_step = 1
        if layer == `LAYERS` - 1:
            target = y
            target_time = `Y_TIME`
            target_row = `Y_ROW`
        weight = tl.load(input_weight + row[None, :] * inputs + k[:, None], mask=(k[:, None] < inputs) & of_input[None, :], other=0.0)
        input_hi, input_lo, input_unit = `NAME`_split(weight, 0)
        weight = tl.load(state_weight + row[None, :] * `HIDDEN` + u[:, None], mask=(u[:, None] < `HIDDEN`) & of_state[None, :], other=0.0)
        state_hi, state_lo, state_unit = `NAME`_split(weight, 0)
        bias = `BIAS`
        place = which * (`BATCH` * `HIDDEN`) + n[:, None] * `HIDDEN` + own[None, :]
`OPENING`        for step in tl.range(begin, end, num_stages=1):
            time = step
            before = step - 1
            if direction == 1:
                time = `STEPS` - 1 - step
                before = `STEPS` - step
            # The input's part first: it is ready long before the state of the step before.
            if WAIT and layer > 0:
`WAIT_BELOW`            x = tl.load(source + time * source_time + n[:, None] * source_row + k[None, :] * source_step, mask=(n[:, None] < `BATCH`) & (k[None, :] < inputs), other=0.0)
            # Weights that are none are 0: what is not finite would not be 0 times them.
            sums = tl.where(of_input[None, :], `NAME`_dot(x, input_hi, input_lo, input_unit), 0.0) + bias[None, :]
            past = `START` + which * (`BATCH` * `HIDDEN`)
            past_row = `HIDDEN`
            if step > 0:
                past = target + before * target_time + direction * `HIDDEN`
                past_row = target_row
                if WAIT:
                    `NAME`_wait(ready + which * `STEPS` + before, `SLICES`)
            h = tl.load(past + n[:, None] * past_row + u[None, :], mask=`FROM_START`(n[:, None] < `BATCH`) & (u[None, :] < `HIDDEN`), other=0.0)
            sums += tl.where(of_state[None, :], `NAME`_dot(h, state_hi, state_lo, state_unit), 0.0)
`CELL`            tl.store(target + time * target_time + n[:, None] * target_row + (direction * `HIDDEN` + own[None, :]), state0, mask=here)
            if WAIT:
                tl.debug_barrier()
                tl.atomic_add(ready + which * `STEPS` + time, 1, sem="release")
`CLOSING`

def `NAME`(`TENSORS`):
    between = torch.empty(`BETWEEN`, device=_DEVICE)
    ready = torch.zeros(`COUNTERS`, dtype=torch.int32, device=_DEVICE)
    if _DEVICE == "cpu":  # Triton's interpreter runs one program after the other: a launch for each layer and step
        for layer in range(`LAYERS`):
            for step in range(`STEPS`):
                `NAME`_kernel[(`PER_LAYER`,)](`TENSORS`, between, ready, layer, layer + 1, step, step + 1, WAIT=False)
        return
    `NAME`_kernel[(`PROGRAMS`,)](`TENSORS`, between, ready, 0, `LAYERS`, 0, `STEPS`, WAIT=True, num_warps=`WARPS`, num_stages=1, launch_cooperative_grid=True)
)PY";

namespace {

// The cell's expressions as statements, each shared one once.
class CellPrinter {
 public:
  CellPrinter(const Recurrence& r, const std::string& name) : r_(r), name_(name) {}

  // The name or number that stands for it; an empty text where Triton has no such function here.
  std::string use(const ExprP& e) {
    if (e->kind == Expr::Kind::constant) return format_double(e->number);
    if (e->kind == Expr::Kind::load) {
      const int sums = static_cast<int>(r_.sums.size());
      return e->tensor < sums ? "sum" + std::to_string(e->tensor) : "state" + std::to_string(e->tensor - sums);
    }
    if (const auto found = names_.find(e.get()); found != names_.end()) return found->second;
    std::vector<std::string> args;
    for (const ExprP& arg : e->args) args.push_back(use(arg));
    const std::string made = e->kind == Expr::Kind::call ? call(e->fn, args) : "";
    if (made.empty() && missing_.empty())
      missing_ = e->kind == Expr::Kind::call ? std::string(mtmc::name(e->fn)) : "a cast";
    const std::string name = "c" + std::to_string(names_.size());
    lines_ += "            " + name + " = " + made + "\n";
    return names_[e.get()] = name;
  }
  const std::string& lines() const { return lines_; }
  const std::string& missing() const { return missing_; }

 private:
  std::string call(Fn fn, const std::vector<std::string>& args) const {
    switch (fn) {
      case Fn::neg: return "-" + args[0];
      case Fn::exp: return "tl.exp(" + args[0] + ")";
      case Fn::tanh: return name_ + "_tanh(" + args[0] + ")";
      case Fn::add: return args[0] + " + " + args[1];
      case Fn::sub: return args[0] + " - " + args[1];
      case Fn::mul: return args[0] + " * " + args[1];
      case Fn::div: return args[0] + " / " + args[1];
      case Fn::max: return "tl.maximum(" + args[0] + ", " + args[1] + ", propagate_nan=tl.PropagateNan.ALL)";
      default: return {};
    }
  }

  const Recurrence& r_;
  const std::string& name_;
  std::map<const Expr*, std::string> names_;
  std::string lines_, missing_;
};

}  // namespace

Result<std::string> recurrent_cell_text(const Recurrence& r, const std::string& name, const std::string& doing) {
  const std::string margin = "            ";
  std::string lines;
  if (r.sums.size() == 1) lines = margin + "sum0 = sums\n";
  if (r.sums.size() == 2)
    lines = margin + "sum0, sum1 = tl.split(tl.reshape(sums, (sums.shape[0], sums.shape[1] // 2, 2)))\n";
  if (r.sums.size() > 2)
    lines = margin + "even, odd = tl.split(tl.reshape(sums, (sums.shape[0], sums.shape[1] // 4, 2, 2)))\n" + margin +
            "sum0, sum2 = tl.split(even)\n" + margin + "sum1, sum3 = tl.split(odd)\n";
  CellPrinter printer(r, name);
  std::vector<std::string> next;
  for (const ExprP& state : r.next) next.push_back(printer.use(state));
  if (!printer.missing().empty())
    return Error{doing, "a function that recurrences are not printed with", printer.missing(),
                 "exp, tanh, max, + - * /"};
  lines += printer.lines();
  for (size_t i = 0; i < next.size(); ++i) lines += margin + "state" + std::to_string(i) + " = " + next[i] + "\n";
  return lines;
}

std::string recurrent_gate_text(const Recurrence& r) {
  std::string text = "part";
  for (size_t s = 0; s < r.sums.size(); ++s)
    if (r.sums[s].gate != static_cast<int>(s))
      text = "tl.where(part == " + std::to_string(s) + ", " + std::to_string(r.sums[s].gate) + ", " + text + ")";
  return text;
}

std::string recurrent_part_text(const Recurrence& r, bool input) {
  std::string text;
  for (size_t s = 0; s < r.sums.size(); ++s)
    if (!(input ? r.sums[s].input : r.sums[s].hidden)) text += " & (part != " + std::to_string(s) + ")";
  if (r.sums.size() == 3) text += " & (part < 3)";
  return text;
}

}  // namespace mtmc
