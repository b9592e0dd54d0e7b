// Along the last dimension of rows and tokens: products, norms, softmax, scans, gates.
#include <fmt/format.h>

#include "generate/block.h"

namespace mtmc {
namespace {

std::string with(const ModuleText& t, const std::string& text) { return fmt::format(fmt::runtime(text), t.var); }

bool structured(ModuleText& t, const std::string& name, const std::string& text, double passes = 2) {
  t.become(with(t, text));
  t.sign(name);
  passes_over(t, passes);
  return true;
}

bool linear(ModuleText& t) {
  const std::vector<int64_t> large = {256, 384, 512, 768, 1024, 2048, 3072, 4096}, few = {16, 24, 32, 48};
  Dim out = t.shape.back();
  if (t.chance(0.6)) out = t.size(t.pick({"hidden", "out_features", "inner"}), t.pick(t.small() ? few : large));
  project(t, out);
  return true;
}

bool weight_product(ModuleText& t) {
  const Dim in = t.shape.back();
  const Dim out =
      t.size(t.pick({"rank", "out_features", "bottleneck"}), t.sized({64, 128, 256, 512, 1024}, {8, 16, 20}));
  const std::string weight = t.member({"weight", "kernel", "factor"},
                                      fmt::format("nn.Parameter(torch.randn({}, {}) * 0.05)", in.text, out.text));
  t.become(t.var + " @ " + weight);
  t.sign("weight_product");
  t.cost(value_bytes(t), 2.0 * static_cast<double>(t.elements()) * static_cast<double>(out.value));
  t.shape.back() = out;
  return true;
}

// Two projections of the same value, one gates the other.
bool gated_linear(ModuleText& t) {
  const Dim in = t.shape.back(), out = t.size("inner", t.sized({512, 768, 1024, 1536, 2048}, {16, 24}));
  const std::string up =
      t.member({"up_proj", "w1", "value_proj"}, fmt::format("nn.Linear({}, {}, bias=False)", in.text, out.text));
  const std::string gate =
      t.member({"gate_proj", "w3", "gate"}, fmt::format("nn.Linear({}, {}, bias=False)", in.text, out.text));
  const std::string by = t.pick({"F.silu", "torch.sigmoid", "F.gelu", "torch.tanh"});
  t.become(fmt::format("{}({}({})) * {}({})", by, gate, t.var, up, t.var));
  t.sign("gated_linear");
  t.cost(2 * value_bytes(t), 4.0 * static_cast<double>(t.elements()) * static_cast<double>(out.value));
  t.shape.back() = out;
  return true;
}

bool layer_norm(ModuleText& t) {
  const std::string norm = t.member({"norm", "ln", "layer_norm"},
                                    "nn.LayerNorm(" + t.shape.back().text + (t.chance(0.2) ? ", eps=1e-6" : "") + ")");
  return structured(t, "layer_norm", norm + "({})", 3);
}
bool rms_norm(ModuleText& t) {
  const std::string weight =
      t.member({"scale", "gain", "weight"}, "nn.Parameter(torch.ones(" + t.shape.back().text + "))");
  return structured(t, "rms_norm", "{0} * torch.rsqrt({0}.pow(2).mean(-1, keepdim=True) + 1e-6) * " + weight, 3);
}
bool softmax(ModuleText& t) {
  return structured(t, "softmax",
                    t.pick({"torch.softmax({}, dim=-1)", "F.softmax({} / 0.7, dim=-1)", "F.log_softmax({}, dim=-1)",
                            "{}.softmax(dim=0)"}),
                    3);
}
bool unit_rows(ModuleText& t) {
  return structured(
      t, "unit_rows",
      t.pick({"F.normalize({}, dim=-1)", "{0} / (torch.linalg.vector_norm({0}, dim=-1, keepdim=True) + 1e-6)",
              "{0} / {0}.abs().sum(dim=-1, keepdim=True).clamp(min=1e-3)"}),
      3);
}
bool standardise(ModuleText& t) {
  return structured(
      t, "standardise",
      t.pick({"{0} - {0}.mean(dim=-1, keepdim=True)", "({0} - {0}.mean(dim=0)) / ({0}.std(dim=0) + 1e-3)",
              "{0} - {0}.amax(dim=-1, keepdim=True)",
              "({0} - {0}.mean(-1, keepdim=True)) / torch.sqrt({0}.var(-1, keepdim=True, unbiased=False) + 1e-5)"}),
      3);
}
bool scan(ModuleText& t) {
  return structured(t, "scan",
                    t.pick({"torch.cumsum({}, dim=-1)", "torch.cumsum({}, dim=1) / 16.0", "{}.flip(-1).cumsum(-1)",
                            "{0} - {0}.cumsum(dim=-1) / {0}.shape[-1]"}));
}
bool glu(ModuleText& t) {
  if (t.shape.back().value % 2 != 0) return false;
  const Dim half{t.shape.back().text + " // 2", t.shape.back().value / 2};
  if (t.chance(0.5)) {
    structured(t, "glu", "F.glu({}, dim=-1)");
  } else {
    const std::string a = t.local({"a", "value", "left"}), b = t.local({"b", "gate", "right"});
    t.statement(fmt::format("{}, {} = {}.chunk(2, dim=-1)", a, b, t.var));
    structured(t, "chunk_gate",
               a + t.pick({" * F.gelu(", " * torch.sigmoid(", " * F.silu(", " + torch.tanh("}) + b + ")");
  }
  t.shape.back() = half;
  return true;
}
bool join_with_itself(ModuleText& t) {
  structured(t, "cat",
             t.pick({"torch.cat([{0}, torch.tanh({0})], dim=-1)", "torch.cat([{0}, -{0}], dim=-1)",
                     "torch.cat([{0}, {0} * {0}], dim=-1)"}),
             3);
  t.shape.back() = times(t.shape.back(), 2);
  return true;
}
bool shuffle(ModuleText& t) {
  return structured(t, "rearrange",
                    t.pick({"torch.roll({0}, shifts=1, dims=-1)", "{0}.flip(-1)",
                            "torch.roll({0}, shifts=2, dims=1) + {0}", "{0} + torch.roll({0}, 1, dims=0)"}));
}

// What stands last: fewer numbers than it got.
bool reduce(ModuleText& t) {
  structured(t, "reduce",
             t.pick({"{}.sum(dim=-1)", "{}.mean(dim=-1)", "{}.amax(dim=-1)", "torch.logsumexp({}, dim=-1)",
                     "{}.std(dim=-1)", "torch.linalg.vector_norm({}, dim=-1)", "{}.sum(dim=0)", "{}.mean(dim=0)",
                     "{0}.amax(dim=-1) - {0}.amin(dim=-1)", "({0} * {0}).mean(dim=1)"}),
             1);
  t.domain = Domain::plain;
  t.shape.pop_back();
  return true;
}
bool similarity(ModuleText& t) {
  const std::string other = t.argument({"target", "other", "keys"}, t.randn(t.shape));
  structured(t, "similarity",
             t.pick({"F.cosine_similarity({}, ", "F.mse_loss({}, ", "F.smooth_l1_loss({}, ", "F.pairwise_distance({}, ",
                     "F.l1_loss({}, "}) +
                 other + ")");
  t.domain = Domain::plain;
  t.shape.resize(1);
  return true;
}
bool classify(ModuleText& t) {
  if (t.domain != Domain::rows || !t.dtype.empty()) return false;
  const std::string labels =
      t.argument({"labels", "target"}, fmt::format("torch.randint(0, {}, ({},))", t.shape[1].text, t.shape[0].text));
  structured(t, "cross_entropy", "F.cross_entropy({}, " + labels + (t.chance(0.4) ? ", label_smoothing=0.1)" : ")"), 1);
  t.domain = Domain::plain;
  t.shape.resize(1);
  return true;
}
bool top(ModuleText& t) {
  structured(t, "top", t.pick({"torch.topk({}, 4, dim=-1).values", "{}.sort(dim=-1).values", "{}.max(dim=-1).values"}),
             2);
  t.domain = Domain::plain;
  return true;
}

}  // namespace

void project(ModuleText& t, const Dim& out) {
  const Dim in = t.shape.back();
  const bool bias = !t.chance(0.3);
  const std::string layer = t.member({"proj", "fc", "linear", "dense", "out_proj"},
                                     fmt::format("nn.Linear({}, {}{})", in.text, out.text, bias ? "" : ", bias=False"));
  t.become(layer + "(" + t.var + ")");
  t.sign("linear");
  t.cost(value_bytes(t), 2.0 * static_cast<double>(t.elements()) * static_cast<double>(out.value));
  t.shape.back() = out;
}

constexpr unsigned kRows = Domain::rows | Domain::tokens;

extern const BlockFile rows_def = {
    {"linear", Role::structured, kRows, linear, 4},
    {"weight_product", Role::structured, kRows, weight_product, 2},
    {"gated_linear", Role::structured, kRows, gated_linear, 2},
    {"layer_norm", Role::structured, kRows, layer_norm, 3},
    {"rms_norm", Role::structured, kRows, rms_norm, 2},
    {"softmax", Role::structured, kRows, softmax, 3},
    {"unit_rows", Role::structured, kRows, unit_rows, 2},
    {"standardise", Role::structured, kRows, standardise, 2},
    {"scan", Role::structured, kRows, scan, 2},
    {"glu", Role::structured, kRows, glu, 2},
    {"cat", Role::structured, kRows, join_with_itself},
    {"rearrange", Role::structured, kRows, shuffle},
    {"reduce", Role::end, kRows, reduce, 3},
    {"similarity", Role::end, kRows, similarity},
    {"cross_entropy", Role::end, static_cast<unsigned>(Domain::rows), classify},
    {"top", Role::end, kRows, top},
};

}  // namespace mtmc
