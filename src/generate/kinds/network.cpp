// A stem, stages of repeated blocks with residuals, and a head.
#include "generate/block.h"
#include "generate/kind.h"

namespace mtmc {
namespace {

// Adds one of the named blocks.
bool one_of(ModuleText& text, std::initializer_list<const char*> names) {
  return find_block(text.pick(names)).add(text);
}

void activate(ModuleText& text) { one_of(text, {"relu", "gelu", "silu", "hardswish", "leaky_relu", "mish"}); }

// Runs `parts` beside the value, and adds what comes of it.
template <typename Parts>
bool around(ModuleText& text, Parts parts) {
  const std::string kept = text.local({"residual", "skip", "identity", "shortcut"});
  text.statement(kept + " = " + text.var);
  if (!parts()) return false;
  if (text.chance(0.2)) find_block("gain").add(text);
  text.become(text.chance(0.5) ? kept + " + " + text.var : text.var + " + " + kept);
  text.sign("residual");
  return true;
}

bool feed_forward(ModuleText& text) {
  const Dim width = text.shape.back();
  if (text.chance(0.4)) {
    if (!find_block("gated_linear").add(text)) return false;
  } else {
    project(text, text.size("inner", width.value * text.pick({2, 3, 4})));
    activate(text);
  }
  project(text, width);
  return true;
}

bool rows_block(ModuleText& text) {
  return around(text, [&] { return one_of(text, {"layer_norm", "rms_norm"}) && feed_forward(text); });
}

bool tokens_block(ModuleText& text) {
  const bool mixed = around(text, [&] {
    if (!one_of(text, {"layer_norm", "layer_norm", "rms_norm"})) return false;
    return one_of(text, {"attention", "attention", "attention", "token_mixing", "gated_scan", "token_shift"});
  });
  if (!mixed) return false;
  return around(text, [&] { return one_of(text, {"layer_norm", "rms_norm"}) && feed_forward(text); });
}

bool normalise(ModuleText& text) { return one_of(text, {"batch_norm", "batch_norm", "group_norm", "instance_norm"}); }

// A block of two convolutions, or one by depth between two that mix channels.
bool grid_block(ModuleText& text) {
  const Dim width = text.shape[1];
  const bool by_depth = text.chance(0.4);
  const bool added = around(text, [&] {
    if (by_depth) {
      if (!find_block("depthwise_conv").add(text) || !normalise(text)) return false;
      if (!convolve(text, text.size("inner", 2 * width.value), 1, 1, 1, "")) return false;
      activate(text);
      return convolve(text, width, 1, 1, 1, "");
    }
    if (!convolve(text, width, 3, 1, 1, ", bias=False") || !normalise(text)) return false;
    activate(text);
    if (!convolve(text, width, text.pick({1, 3}), 1, text.pick({1, 2}), "") || !normalise(text)) return false;
    return text.chance(0.3) ? find_block("squeeze_excite").add(text) : true;
  });
  if (added && !by_depth) activate(text);
  return added;
}

bool block(ModuleText& text) {
  if (text.domain == Domain::rows) return rows_block(text);
  return text.domain == Domain::tokens ? tokens_block(text) : grid_block(text);
}

bool stem(ModuleText& text) {
  if (text.domain == Domain::rows) {
    project(text, text.size("hidden", text.sized({512, 768, 1024, 2048}, {16, 32})));
    activate(text);
    return true;
  }
  if (text.domain == Domain::tokens) return one_of(text, {"positions", "linear", "layer_norm"});
  const Dim out = text.size(
      "planes", text.domain == Domain::volume ? text.sized({16, 32}, {4}) : text.sized({32, 48, 64, 96}, {4, 8}));
  return convolve(text, out, 3, text.pick({1, 2}), 1, "") && normalise(text);
}

bool narrow(ModuleText& text) {  // between two stages
  if (text.domain == Domain::rows || text.domain == Domain::tokens) return one_of(text, {"linear", "layer_norm"});
  if (text.chance(0.5)) return find_block("pool").add(text);
  return convolve(text, text.size("planes", 2 * text.shape[1].value), 3, 2, 1, "");
}

bool head(ModuleText& text) {
  if (text.domain == Domain::tokens && !find_block("pool_tokens").add(text)) return false;
  if (text.domain != Domain::rows && !find_block("global_pool").add(text)) return false;
  project(text, text.size("classes", text.sized({10, 100, 256, 1000}, {5, 10})));
  return true;
}

bool write(ModuleText& text) {
  begin(text, text.pick(std::vector<Domain>{Domain::rows, Domain::tokens, Domain::tokens, Domain::sequence,
                                            Domain::image, Domain::image, Domain::volume}));
  if (!stem(text)) return false;
  const int stages = 1 + static_cast<int>(text.rng().below(text.domain == Domain::tokens ? 2 : 3));
  for (int stage = 0; stage < stages; ++stage) {
    if (stage > 0 && !narrow(text)) return false;
    ModuleText repeated = text.repeated();
    if (!block(repeated)) return false;
    text.repeat(repeated,
                text.small() ? 1 + static_cast<int>(text.rng().below(2)) : 1 + static_cast<int>(text.rng().below(6)));
  }
  if (text.chance(0.8) && !head(text)) return false;
  text.eval = text.chance(0.3);
  return true;
}

}  // namespace

extern const KindDef network_def;
const KindDef network_def{"network", "a stem, stages of repeated blocks with residuals, a head", 1e-4, 1e-2, write};

}  // namespace mtmc
