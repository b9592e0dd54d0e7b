// Element by element: activations as modules and as functions, arithmetic with numbers, parameters and other arguments.
#include <fmt/format.h>

#include "generate/block.h"

namespace mtmc {
namespace {

// x = TEXT, where {} is the value.
bool call(ModuleText& t, const std::string& name, const std::string& text) {
  t.become(fmt::format(fmt::runtime(text), t.var));
  t.sign(name);
  passes_over(t);
  return true;
}

// A module or the function of the same meaning, as people write both.
bool activation(ModuleText& t, const char* name, const std::string& module, const std::string& function) {
  if (t.chance(0.4)) return call(t, name, function);
  const std::string member = t.member({"act", "activation", "nonlinearity"}, module);
  return call(t, name, member + "({})");
}

std::string number(ModuleText& t) { return t.pick({"0.5", "2.0", "0.1", "1.5", "0.044715", "3.0", "0.25"}); }

bool relu(ModuleText& t) { return activation(t, "relu", "nn.ReLU()", t.chance(0.5) ? "torch.relu({})" : "F.relu({})"); }
bool gelu(ModuleText& t) {
  if (t.chance(0.3))
    return activation(t, "gelu_tanh", "nn.GELU(approximate=\"tanh\")", "F.gelu({}, approximate=\"tanh\")");
  return activation(t, "gelu", "nn.GELU()", "F.gelu({})");
}
bool silu(ModuleText& t) {
  return activation(t, "silu", "nn.SiLU()", t.chance(0.5) ? "{0} * torch.sigmoid({0})" : "F.silu({})");
}
bool mish(ModuleText& t) { return activation(t, "mish", "nn.Mish()", "{0} * torch.tanh(F.softplus({0}))"); }
bool hardswish(ModuleText& t) { return activation(t, "hardswish", "nn.Hardswish()", "F.hardswish({})"); }
bool softplus(ModuleText& t) { return activation(t, "softplus", "nn.Softplus()", "F.softplus({})"); }
bool elu(ModuleText& t) { return activation(t, "elu", "nn.ELU()", "F.elu({}, alpha=" + number(t) + ")"); }
bool leaky_relu(ModuleText& t) {
  const std::string slope = t.pick({"0.01", "0.1", "0.2"});
  return activation(t, "leaky_relu", "nn.LeakyReLU(" + slope + ")", "F.leaky_relu({}, " + slope + ")");
}
bool tanh(ModuleText& t) { return activation(t, "tanh", "nn.Tanh()", "torch.tanh({})"); }
bool sigmoid(ModuleText& t) { return activation(t, "sigmoid", "nn.Sigmoid()", "torch.sigmoid({})"); }
bool relu_squared(ModuleText& t) {
  return call(t, "relu_squared", t.chance(0.5) ? "torch.relu({}) ** 2" : "F.relu({}).square()");
}
bool clamp(ModuleText& t) {
  return call(t, "clamp",
              t.pick({"torch.clamp({}, -1.0, 1.0)", "{}.clamp(min=-3.0, max=3.0)", "{}.clamp(min=0.0)",
                      "F.hardtanh({}, -2.0, 2.0)"}));
}
bool scale(ModuleText& t) { return call(t, "scale", "{} * " + number(t)); }
bool shift(ModuleText& t) { return call(t, "shift", "{} + " + number(t)); }
bool affine(ModuleText& t) { return call(t, "affine", number(t) + " * {} - " + number(t)); }
bool soft_sign(ModuleText& t) { return call(t, "soft_sign", "{0} / (1.0 + {0}.abs())"); }
bool log_magnitude(ModuleText& t) { return call(t, "log_magnitude", "torch.log1p({}.abs())"); }
bool signed_root(ModuleText& t) { return call(t, "signed_root", "torch.sign({0}) * torch.sqrt({0}.abs() + 1e-6)"); }
bool choose(ModuleText& t) { return call(t, "where", "torch.where({0} > 0, {0}, " + number(t) + " * {0})"); }
bool bell(ModuleText& t) { return call(t, "gaussian", "torch.exp(-0.5 * {0} * {0})"); }
bool wave(ModuleText& t) {
  return call(t, "wave",
              t.pick({"torch.sin({0}) + {0}", "{0} + torch.cos({0}) ** 2", "torch.sin({0}) * torch.exp(-{0}.abs())"}));
}
bool cubic(ModuleText& t) { return call(t, "cubic", "{0} + 0.1 * {0} ** 3"); }
bool softcap(ModuleText& t) { return call(t, "softcap", "torch.tanh({} / 30.0) * 30.0"); }
bool quick_gelu(ModuleText& t) { return call(t, "quick_gelu", "{0} * torch.sigmoid(1.702 * {0})"); }

// The shape of a parameter with one number for each channel.
std::string per_channel(ModuleText& t) {
  std::string shape = t.channels().text;
  if (t.domain == Domain::rows || t.domain == Domain::tokens) return shape;
  for (size_t i = 2; i < t.shape.size(); ++i) shape += ", 1";
  return shape;
}

bool gain(ModuleText& t) {
  const std::string weight =
      t.member({"gain", "scale", "gamma", "layer_scale"}, "nn.Parameter(torch.rand(" + per_channel(t) + ") + 0.5)");
  return call(t, "gain", "{} * " + weight);
}
bool bias(ModuleText& t) {
  const std::string weight = t.member({"bias", "offset", "beta"}, "nn.Parameter(torch.randn(" + per_channel(t) + "))");
  return call(t, "bias", "{} + " + weight);
}
bool slopes(ModuleText& t) {
  if (t.domain == Domain::rows || t.domain == Domain::tokens) return false;
  const std::string prelu = t.member({"act", "prelu"}, "nn.PReLU(" + t.channels().text + ")");
  return call(t, "prelu", prelu + "({})");
}

bool add_argument(ModuleText& t) {
  if (t.closed) return false;
  const std::string other = t.argument({"residual", "skip", "other", "y"}, t.randn(t.shape));
  call(t, "add_argument", "{} + " + other);
  passes_over(t, 1);
  return true;
}
bool times_argument(ModuleText& t) {
  if (t.closed) return false;
  const std::string other = t.argument({"gate", "weights_in", "y", "mask_in"}, t.randn(t.shape));
  call(t, "times_argument", t.pick({"{0} * ", "torch.sigmoid({0}) * ", "F.silu({0}) * "}) + other);
  passes_over(t, 1);
  return true;
}
bool mix_arguments(ModuleText& t) {
  if (t.closed) return false;
  const std::string other = t.argument({"target", "previous", "y"}, t.randn(t.shape));
  call(t, "lerp", t.chance(0.5) ? "torch.lerp({}, " + other + ", 0.3)" : "0.7 * {} + 0.3 * " + other);
  passes_over(t, 1);
  return true;
}

}  // namespace

constexpr unsigned kChannels = Domain::rows | Domain::tokens | Domain::sequence | Domain::image | Domain::volume;

extern const BlockFile pointwise_def = {
    {"relu", Role::pointwise, kAnywhere, relu, 2},
    {"gelu", Role::pointwise, kAnywhere, gelu, 2},
    {"silu", Role::pointwise, kAnywhere, silu, 2},
    {"mish", Role::pointwise, kAnywhere, mish},
    {"hardswish", Role::pointwise, kAnywhere, hardswish},
    {"softplus", Role::pointwise, kAnywhere, softplus},
    {"elu", Role::pointwise, kAnywhere, elu},
    {"leaky_relu", Role::pointwise, kAnywhere, leaky_relu},
    {"tanh", Role::pointwise, kAnywhere, tanh},
    {"sigmoid", Role::pointwise, kAnywhere, sigmoid},
    {"relu_squared", Role::pointwise, kAnywhere, relu_squared},
    {"clamp", Role::pointwise, kAnywhere, clamp},
    {"scale", Role::pointwise, kAnywhere, scale},
    {"shift", Role::pointwise, kAnywhere, shift},
    {"affine", Role::pointwise, kAnywhere, affine},
    {"soft_sign", Role::pointwise, kAnywhere, soft_sign},
    {"log_magnitude", Role::pointwise, kAnywhere, log_magnitude},
    {"signed_root", Role::pointwise, kAnywhere, signed_root},
    {"where", Role::pointwise, kAnywhere, choose},
    {"gaussian", Role::pointwise, kAnywhere, bell},
    {"wave", Role::pointwise, kAnywhere, wave},
    {"cubic", Role::pointwise, kAnywhere, cubic},
    {"softcap", Role::pointwise, kAnywhere, softcap},
    {"quick_gelu", Role::pointwise, kAnywhere, quick_gelu},
    {"gain", Role::pointwise, kChannels, gain, 2},
    {"bias", Role::pointwise, kChannels, bias, 2},
    {"prelu", Role::pointwise, kChannels, slopes},
    {"add_argument", Role::pointwise, kChannels, add_argument, 2},
    {"times_argument", Role::pointwise, kChannels, times_argument, 2},
    {"lerp", Role::pointwise, kChannels, mix_arguments},
};

}  // namespace mtmc
