// Sequences, images and volumes: convolutions, norms over channels, pools, resizing.
#include <fmt/format.h>

#include "generate/block.h"

namespace mtmc {
namespace {

constexpr unsigned kGrids = Domain::sequence | Domain::image | Domain::volume;
constexpr unsigned kImage = static_cast<unsigned>(Domain::image);

int dims(const ModuleText& t) { return static_cast<int>(t.shape.size()) - 2; }

double taps(const ModuleText& t, int64_t kernel) {
  double count = 1;
  for (int i = 0; i < dims(t); ++i) count *= static_cast<double>(kernel);
  return count;
}

// The sizes that a window leaves; false where nothing would be left.
bool slide(ModuleText& t, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation = 1) {
  std::vector<Dim> shape = t.shape;
  for (size_t i = 2; i < shape.size(); ++i) {
    const int64_t out = (shape[i].value + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
    if (out < 2) return false;
    if (out != shape[i].value) shape[i] = {std::to_string(out), out};
  }
  t.shape = shape;
  return true;
}

}  // namespace

bool convolve(ModuleText& t, const Dim& out, int64_t kernel, int64_t stride, int64_t dilation,
              const std::string& more) {
  const Dim in = t.shape[1];
  const int64_t padding = dilation * (kernel / 2);
  const double before = value_bytes(t);
  if (!slide(t, kernel, stride, padding, dilation)) return false;
  std::string make = fmt::format("nn.Conv{}d({}, {}, {}", dims(t), in.text, out.text, kernel);
  if (stride > 1) make += fmt::format(", stride={}", stride);
  if (padding > 0) make += fmt::format(", padding={}", padding);
  if (dilation > 1) make += fmt::format(", dilation={}", dilation);
  const std::string conv = t.member({"conv", "body", "filter", "stem"}, make + more + ")");
  t.become(conv + "(" + t.var + ")");
  t.sign("conv");
  t.shape[1] = out;
  const double inner = more.find("groups") == more.npos ? static_cast<double>(in.value) : 1;
  t.cost(before + value_bytes(t), 2.0 * static_cast<double>(t.elements()) * inner * taps(t, kernel));
  return true;
}

namespace {

bool conv(ModuleText& t) {
  Dim out = t.shape[1];
  if (t.chance(0.6))
    out = t.size(t.pick({"filters", "out_channels", "planes"}), t.domain == Domain::volume
                                                                    ? t.sized({16, 24, 32, 48}, {3, 6})
                                                                    : t.sized({32, 48, 64, 96, 128, 192}, {6, 8}));
  const int64_t kernel = t.pick({1, 3, 3, 3, 5}), stride = kernel > 1 && t.chance(0.2) ? 2 : 1;
  return convolve(t, out, kernel, stride, 1, t.chance(0.4) ? ", bias=False" : "");
}
bool dilated(ModuleText& t) { return convolve(t, t.shape[1], 3, 1, 2, ""); }
bool depthwise(ModuleText& t) {
  return convolve(t, t.shape[1], t.pick({3, 5, 7}), 1, 1, ", groups=" + t.shape[1].text);
}
bool transposed(ModuleText& t) {
  const Dim in = t.shape[1], out = t.size("out_channels", t.sized({16, 24, 32, 64}, {4, 6}));
  if (!t.small() && t.elements() > (1 << 24)) return false;
  const std::string up =
      t.member({"up", "deconv", "expand"},
               fmt::format("nn.ConvTranspose{}d({}, {}, 4, stride=2, padding=1)", dims(t), in.text, out.text));
  for (size_t i = 2; i < t.shape.size(); ++i) t.shape[i] = times(t.shape[i], 2);
  t.shape[1] = out;
  t.become(up + "(" + t.var + ")");
  t.sign("conv_transpose");
  t.cost(value_bytes(t), 2.0 * static_cast<double>(t.elements() * in.value) * taps(t, 2));
  return true;
}

bool norm(ModuleText& t, const char* name, const std::string& make) {
  const std::string layer = t.member({"norm", "bn", "normalise"}, make);
  t.become(layer + "(" + t.var + ")");
  t.sign(name);
  passes_over(t, 3);
  return true;
}
bool batch_norm(ModuleText& t) {
  return norm(t, "batch_norm", fmt::format("nn.BatchNorm{}d({})", dims(t), t.shape[1].text));
}
bool instance_norm(ModuleText& t) {
  return norm(t, "instance_norm", fmt::format("nn.InstanceNorm{}d({}, affine=True)", dims(t), t.shape[1].text));
}
bool group_norm(ModuleText& t) {
  for (const int64_t groups : {8, 4, 2})
    if (t.shape[1].value % groups == 0 && t.shape[1].value > groups)
      return norm(t, "group_norm", fmt::format("nn.GroupNorm({}, {})", groups, t.shape[1].text));
  return false;
}
bool channel_norm(ModuleText& t) {
  t.become(fmt::format(
      fmt::runtime(t.pick({"{0} * torch.rsqrt({0}.pow(2).mean(dim=1, keepdim=True) + 1e-6)", "F.normalize({0}, dim=1)",
                           "torch.softmax({0}, dim=1)", "{0} - {0}.mean(dim=1, keepdim=True)"})),
      t.var));
  t.sign("channel_norm");
  passes_over(t, 3);
  return true;
}

bool pool(ModuleText& t) {
  const int64_t kernel = t.pick({2, 3}), stride = 2;
  if (!slide(t, kernel, stride, 0)) return false;
  const std::string kind = t.pick({"Max", "Avg"});
  const std::string layer =
      t.member({"pool", "down"}, fmt::format("nn.{}Pool{}d({}, stride={})", kind, dims(t), kernel, stride));
  passes_over(t, taps(t, stride) + 1);
  t.become(layer + "(" + t.var + ")");
  t.sign("pool");
  return true;
}
bool smooth(ModuleText& t) {
  if (!slide(t, 3, 1, 1)) return false;
  const std::string kind = t.pick({"Max", "Avg"});
  const std::string layer =
      t.member({"pool", "smooth"}, fmt::format("nn.{}Pool{}d(3, stride=1, padding=1)", kind, dims(t)));
  t.become(t.chance(0.5) ? fmt::format("{0} - {1}({0})", t.var, layer) : fmt::format("{}({})", layer, t.var));
  t.sign("smooth");
  passes_over(t);
  return true;
}
bool upsample(ModuleText& t) {
  if (!t.small() && t.elements() > (1 << 24)) return false;
  for (size_t i = 2; i < t.shape.size(); ++i) t.shape[i] = times(t.shape[i], 2);
  const std::string mode = t.pick({"mode=\"nearest\"", "mode=\"bilinear\", align_corners=False"});
  t.become(fmt::format("F.interpolate({}, scale_factor=2, {})", t.var, mode));
  t.sign("upsample");
  passes_over(t);
  return true;
}
bool pixel_shuffle(ModuleText& t) {
  if (t.shape[1].value % 4 != 0) return false;
  t.shape[1] = {std::to_string(t.shape[1].value / 4), t.shape[1].value / 4};
  for (size_t i = 2; i < t.shape.size(); ++i) t.shape[i] = times(t.shape[i], 2);
  t.become(fmt::format("F.pixel_shuffle({}, 2)", t.var));
  t.sign("pixel_shuffle");
  passes_over(t);
  return true;
}
bool squeeze_excite(ModuleText& t) {
  const Dim width = t.shape[1], inner = t.size("squeezed", t.sized({8, 16, 32}, {2, 4}));
  const std::string down = t.member({"reduce", "squeeze"}, fmt::format("nn.Linear({}, {})", width.text, inner.text));
  const std::string up = t.member({"excite", "restore"}, fmt::format("nn.Linear({}, {})", inner.text, width.text));
  const std::string s = t.local({"s", "summary", "weights"});
  t.statement(fmt::format("{} = torch.sigmoid({}(torch.relu({}({}.mean(dim={})))))", s, up, down, t.var,
                          dims(t) == 1   ? "2"
                          : dims(t) == 2 ? "(2, 3)"
                                         : "(2, 3, 4)"));
  t.become(fmt::format("{} * {}{}", t.var, s,
                       dims(t) == 1   ? "[:, :, None]"
                       : dims(t) == 2 ? "[:, :, None, None]"
                                      : "[:, :, None, None, None]"));
  t.sign("squeeze_excite");
  passes_over(t, 3);
  return true;
}
bool pad(ModuleText& t) {
  const std::string mode = t.pick({"", ", mode=\"reflect\"", ", mode=\"replicate\""});
  t.become(fmt::format("F.pad({}, ({}){})", t.var, dims(t) == 1 ? "1, 1" : "1, 1, 1, 1", mode));
  for (size_t i = t.shape.size() - (dims(t) == 1 ? 1 : 2); i < t.shape.size(); ++i)
    t.shape[i] = {t.shape[i].text + " + 2", t.shape[i].value + 2};
  t.sign("pad");
  passes_over(t);
  return true;
}

bool global_pool(ModuleText& t) {
  const std::string over = dims(t) == 1 ? "2" : dims(t) == 2 ? "(2, 3)" : "(2, 3, 4)";
  t.become(t.var + t.pick({".mean(dim=", ".amax(dim=", ".sum(dim="}) + over + ")");
  t.sign("global_pool");
  passes_over(t, 1);
  t.domain = Domain::rows;
  t.shape.resize(2);
  return true;
}
bool channel_reduce(ModuleText& t) {
  t.become(t.var +
           t.pick({".mean(dim=1)", ".amax(dim=1, keepdim=True)", ".sum(dim=1)", ".logsumexp(dim=1)", ".std(dim=1)"}));
  t.sign("channel_reduce");
  passes_over(t, 1);
  t.domain = Domain::plain;
  t.shape.erase(t.shape.begin() + 1);
  return true;
}
bool to_tokens(ModuleText& t) {
  t.become(t.var + ".flatten(2).transpose(1, 2)");
  t.sign("to_tokens");
  const Dim channels = t.shape[1];
  const int64_t places = t.elements() / (t.shape[0].value * channels.value);
  t.shape = {t.shape[0], {std::to_string(places), places}, channels};
  t.domain = Domain::tokens;
  return true;
}

}  // namespace

extern const BlockFile grids_def = {
    {"conv", Role::structured, kGrids, conv, 5},
    {"dilated_conv", Role::structured, kGrids, dilated},
    {"depthwise_conv", Role::structured, kGrids, depthwise, 2},
    {"conv_transpose", Role::structured, kGrids, transposed},
    {"batch_norm", Role::structured, kGrids, batch_norm, 2},
    {"instance_norm", Role::structured, kGrids, instance_norm},
    {"group_norm", Role::structured, kGrids, group_norm, 2},
    {"channel_norm", Role::structured, kGrids, channel_norm, 2},
    {"pool", Role::structured, kGrids, pool, 2},
    {"smooth", Role::structured, kGrids, smooth},
    {"upsample", Role::structured, kImage, upsample},
    {"pixel_shuffle", Role::structured, kImage, pixel_shuffle},
    {"squeeze_excite", Role::structured, kGrids, squeeze_excite},
    {"pad", Role::structured, Domain::sequence | Domain::image, pad},
    {"global_pool", Role::end, kGrids, global_pool, 2},
    {"channel_reduce", Role::end, kGrids, channel_reduce, 2},
    {"to_tokens", Role::end, Domain::sequence | Domain::image, to_tokens, 0.5},
};

}  // namespace mtmc
