// Functions that Triton lacks, in terms of what it has, so that the interpreter runs them as well. Polynomials are
// those of the Cephes library (S. Moshier), which is in the public domain, for f32.
#include <map>

#include "targets/triton/tile.h"

namespace mtmc::triton {
namespace {

// exp(-x^2) t P(t) with t = 3.75 / (3.75 + x), P interpolated at Chebyshev nodes and right to 1e-15: in f64, since f32
// has few digits left of an exponential of -80.
constexpr const char* kErfc =
    "x = tl.abs(a).to(tl.float64)\nt = 3.75 / (x + 3.75)\ns = 2.0 * t - 1.0\n"
    "p = 7.856647269088792e-10 * s + 4.0189334398143906e-10\n"
    "p = (p * s - 9.188096889993554e-09) * s - 6.107577383550023e-09\n"
    "p = (p * s + 6.817553740173479e-08) * s + 7.32245377534959e-08\n"
    "p = (p * s - 4.397761170135345e-07) * s - 8.760456693090002e-07\n"
    "p = (p * s + 2.373384963497878e-06) * s + 9.991862271341303e-06\n"
    "p = (p * s - 2.824717364434923e-06) * s - 9.29722959362451e-05\n"
    "p = (p * s - 0.0002119529010751487) * s + 0.00026302344646086684\n"
    "p = (p * s + 0.00334290135360319) * s + 0.013098340969146647\n"
    "p = (p * s + 0.035188106980345614) * s + 0.07441654640868842\n"
    "p = (p * s + 0.13079207765539577) * s + 0.19635171339247506\n"
    "p = (p * s + 0.2556644204407758) * s + 0.29117944255007705\n"
    "r = t * p * tl.exp(-x * x)\nreturn tl.where(a < 0, 2.0 - r, r).to(a.dtype)";

// Of launches and products.
const std::map<std::string, std::string>& launch_sources() {
  static const std::map<std::string, std::string> kSources = {
      // Programs of a launch are scheduled while the last ones of the launch before still run (programmatic dependent
      // launch), and wait for it here.
      {"_wait", "if _OVERLAPS:\n    tl.extra.cuda.gdc_wait()"},
      // On Hopper a product reads a left operand that was computed from registers, while the program goes on and may
      // compute the next one into the same: Triton waits for too little (its issue 9433). Whoever
      // uses the sum waits for all of it; this uses it, and does nothing.
      {"_settled",
       "if _FROM_REGISTERS:\n    a = tl.inline_asm_elementwise(\"\", \"=f,0\", [a], dtype=tl.float32, is_pure=False, "
       "pack=1)\nreturn a"},
      // A block of f32 as the sum of two of f16, each column scaled by a power of two. What is not finite goes to the
      // low part, and its sign to the high one.
      {"_parts",
       "size = tl.abs(a)\nlargest = tl.max(tl.where(size < float(\"inf\"), size, 0.0), 0, keep_dims=True)\n"
       "scale = tl.exp2(13.0 - tl.floor(tl.log2(tl.maximum(largest, 1e-30))))\n"
       "t = a * scale\nhigh = t.to(tl.float16)\nfinite = tl.abs(t) < float(\"inf\")\n"
       "low = tl.where(finite, t - high.to(tl.float32), t).to(tl.float16)\n"
       "high = tl.where(finite, high, tl.where(t < 0.0, -1.0, 1.0).to(tl.float16))\nreturn high, low, scale"},
  };
  return kSources;
}

// Exponentials and what is made of them.
const std::map<std::string, std::string>& exponential_sources() {
  static const std::map<std::string, std::string> kSources = {
      // e^a within 2 ulp: 2^k times 2^(a log2(e) - k), k the nearest integer, which is in the last bits of t, and the
      // difference from fused multiplications by log2(e) in two parts. tl.exp rounds a log2(e): 64 ulp at 88.
      {"_exp",
       "if a.dtype == tl.float64:\n    return tl.exp(a)\n"
       "else:\n"
       "    t = tl.minimum(tl.maximum(a * 1.4426950216293335, -126.0), 127.0) + 12583039.0\n"
       "    r = tl.math.fma(a, 1.925963033500011e-08, tl.math.fma(a, 1.4426950216293335, 12583039.0 - t))\n"
       "    return tl.exp2(r) * (t.to(tl.int32, bitcast=True) << 23).to(tl.float32, bitcast=True)"},
      {"_tanh",
       "if a.dtype == tl.float64:\n    e = _expm1(2.0 * tl.minimum(tl.abs(a), 20.0))\n    t = e / (e + 2.0)\n"
       "    return tl.where(a != a, a, tl.where(a < 0, -t, t))\n"
       "z = a * a\n"
       "p = -5.70498872745e-3 * z + 2.06390887954e-2\np = p * z - 5.37397155531e-2\n"
       "p = p * z + 1.33314422036e-1\np = p * z - 3.33332819422e-1\n"
       "far = 1.0 - 2.0 / (tl.exp(2.0 * tl.abs(a)) + 1.0)\n"
       "return tl.where(tl.abs(a) < 0.625, p * z * a + a, tl.where(a < 0, -far, far))"},
      {"_expm1",
       "e = _exp(a)\nd = tl.log(e)\n"
       "near = tl.where(e == 1.0, a, (e - 1.0) * (a / tl.where(d == 0.0, 1.0, d)))\n"
       "return tl.where(tl.abs(a) < 0.5, near, e - 1.0)"},
      {"_log1p",
       "u = 1.0 + a\nd = u - 1.0\n"
       "near = tl.where(d == 0.0, a, tl.log(u) * (a / tl.where(d == 0.0, 1.0, d)))\n"
       "return tl.where(tl.abs(a) < 1.0, near, tl.log(u))"},
      {"_sinh",
       "t = _exp(0.5 * tl.abs(a))\nh = (0.5 * t) * t\nz = a * a\n"
       "near = a + a * z * (1.66667160211e-1 + z * (8.33028376239e-3 + z * 2.03721912945e-4))\n"
       "far = h - 0.25 / h\nreturn tl.where(z < 1.0, near, tl.where(a < 0, -far, far))"},
      {"_cosh", "t = _exp(0.5 * tl.abs(a))\nh = (0.5 * t) * t\nreturn h + 0.25 / h"},
  };
  return kSources;
}

// Of numbers.
const std::map<std::string, std::string>& sources() {
  static const std::map<std::string, std::string> kSources = {
      {"_maximum", "return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)"},
      {"_minimum", "return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)"},
      {"_multiply", "return a * b"},
      // What may be a product of nothing but what is finite and not 0 is none: 0, or inf.
      {"_special", "return ((a == 0) | (tl.abs(a) == float(\"inf\")) | (a != a)).to(a.dtype)"},
      // A running product a, and the product b of what follows it, with whether something in them is special. One after
      // the other a 0 that is too small a product stays, however large the product of what follows, and so does an inf.
      {"_multiply_in_turn",
       "product = a * b\nlost = (product != product) & (j == 0)\n"
       "return tl.where(lost, a, product), tl.maximum(i, j)"},
      {"_floor_div", "q = a // b\nreturn tl.where((a % b != 0) & ((a < 0) != (b < 0)), q - 1, q)"},
      {"_floor_mod", "r = a % b\nreturn tl.where((r != 0) & ((r < 0) != (b < 0)), r + b, r)"},
      {"_remainder",
       "u = tl.where(b == b, a, a)\nv = tl.where(a == a, b, b)\nq = u / v\n"
       "r = u - tl.where(q < 0, tl.ceil(q), tl.floor(q)) * v\nendless = tl.abs(v) == float(\"inf\")\n"
       "r = tl.where(endless, tl.where(tl.abs(u) == float(\"inf\"), float(\"nan\"), u), r)\n"
       "r = tl.where((tl.abs(r) >= tl.abs(v)) & (endless == 0), r - tl.where((r < 0) == (v < 0), v, -v), r)\n"
       "return tl.where((r != 0) & ((r < 0) != (v < 0)), r + v, r)"},
      {"_trunc", "return tl.where(a < 0, tl.ceil(a), tl.floor(a))"},
      {"_round",
       "r = tl.floor(a + 0.5)\nodd = r - 2.0 * tl.floor(r * 0.5) != 0\n"
       "return tl.where(tl.floor(a) == a, a, tl.where((r - a == 0.5) & odd, r - 1.0, r))"},
      {"_tan", "return tl.sin(a) / tl.cos(a)"},
      {"_atan",
       "x = tl.abs(a)\nlarge = x > 2.414213562373095\nmiddle = x > 0.4142135623730950\n"
       "y = tl.where(large, 1.5707963267948966, tl.where(middle, 0.7853981633974483, 0.0))\n"
       "x = tl.where(large, -1.0 / tl.where(large, x, 1.0), tl.where(middle, (x - 1.0) / (x + 1.0), x))\nz = x * x\n"
       "p = ((8.05374449538e-2 * z - 1.38776856032e-1) * z + 1.99777106478e-1) * z - 3.33329491539e-1\n"
       "r = y + p * z * x + x\nreturn tl.where(a != a, a, tl.where(a < 0, -r, r))"},
      {"_asin", "return _atan2(a, tl.sqrt((1.0 - a) * (1.0 + a)))"},
      {"_acos", "return _atan2(tl.sqrt((1.0 - a) * (1.0 + a)), a)"},
      {"_atan2",
       "r = _atan(a / tl.where(b == 0, 1.0, b))\n"
       "r = tl.where(b == 0, tl.where(a > 0, 1.5707963267948966, tl.where(a < 0, -1.5707963267948966, 0.0)), r)\n"
       "r = tl.where((b < 0) & (a >= 0), r + 3.141592653589793, tl.where((b < 0) & (a < 0), r - 3.141592653589793, "
       "r))\n"
       "return tl.where((a != a) | (b != b), a + b, r)"},
      // In f64: the relative error of a power in f32 grows with its exponent.
      {"_pow",
       "u = tl.where(b == b, a, a)\nx = u.to(tl.float64)\ny = tl.where(a == a, b, b).to(tl.float64)\n"
       "whole = tl.floor(y)\nr = tl.exp2(y * tl.log2(tl.abs(x)))\n"
       "r = tl.where((x < 0) & (whole - 2.0 * tl.floor(whole * 0.5) != 0), -r, r)\n"
       "r = tl.where((x < 0) & (whole != y), float(\"nan\"), r)\n"
       "r = tl.where((y == 0) | (x == 1), 1.0, r)\n"
       "if u.dtype.is_int():\n    r = tl.floor(r + 0.5)\nreturn r.to(u.dtype)"},
      {"_erfc", kErfc},
      {"_first_largest",
       "take = ((a != a) & ((b == b) | (i < j))) | ((b == b) & ((a > b) | ((a == b) & (i < j))))\n"
       "return tl.where(take, a, b), tl.where(take, i, j)"},
      {"_first_smallest",
       "take = ((a != a) & ((b == b) | (i < j))) | ((b == b) & ((a < b) | ((a == b) & (i < j))))\n"
       "return tl.where(take, a, b), tl.where(take, i, j)"},
  };
  return kSources;
}

}  // namespace

std::string helper_source(const std::string& name) {
  std::string body;
  for (const auto* of : {&launch_sources(), &exponential_sources(), &sources()})
    if (const auto at = of->find(name); at != of->end()) body = at->second;
  if (body.empty()) return "";
  std::string parameters = "a, b";
  for (const char* one : {"_settled", "_parts", "_trunc", "_round", "_exp", "_tanh", "_expm1", "_log1p", "_tan",
                          "_sinh", "_cosh", "_atan", "_asin", "_acos", "_erfc", "_special"})
    if (name == one) parameters = "a";
  if (name == "_wait") parameters = "";
  for (const char* two : {"_first_largest", "_first_smallest", "_multiply_in_turn"})
    if (name == two) parameters = "a, i, b, j";
  std::string text = "@triton.jit\ndef " + name + "(" + parameters + "):\n    ";
  for (char c : body) text += c == '\n' ? std::string("\n    ") : std::string(1, c);
  return text + "\n";
}

}  // namespace mtmc::triton
