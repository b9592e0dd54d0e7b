// What happens between tokens: attention, mixing, positions, recurrence.
#include <fmt/format.h>

#include "generate/block.h"

namespace mtmc {
namespace {

constexpr unsigned kTokens = static_cast<unsigned>(Domain::tokens);

double attention_flops(const ModuleText& t) {
  return 4.0 * static_cast<double>(t.elements()) * static_cast<double>(t.shape[1].value);
}

// One projection to queries, keys and values; heads apart; scores; together again.
bool attention(ModuleText& t) {
  const Dim width = t.shape[2];
  std::vector<int64_t> heads;
  for (const int64_t count : {2, 4, 6, 8, 12, 16})
    if (width.value % count == 0 && width.value / count >= (t.small() ? 4 : 32) && width.value / count <= 128)
      heads.push_back(count);
  if (heads.empty()) return false;
  const int64_t count = t.pick(heads);
  const std::string qkv =
      t.member({"qkv", "in_proj", "to_qkv"},
               fmt::format("nn.Linear({0}, 3 * ({0}), bias={1})", width.text, t.chance(0.5) ? "True" : "False"));
  const std::string out = t.member({"out", "o_proj", "to_out"}, fmt::format("nn.Linear({0}, {0})", width.text));
  const std::string heads_of = t.member({"heads", "num_heads"}, std::to_string(count));
  const bool causal = t.chance(0.4), library = t.chance(0.5);
  const std::string q = t.local({"q", "query"}), k = t.local({"k", "key"}), v = t.local({"v", "value"}), x = t.var;
  t.statement(fmt::format("{}, {}, {} = {}({}).chunk(3, dim=-1)", q, k, v, qkv, x));
  for (const std::string& one : {q, k, v})
    t.statement(fmt::format("{0} = {0}.unflatten(-1, ({1}, -1)).transpose(1, 2)", one, heads_of));
  const std::string y = t.local({"y", "mixed", "context"});
  if (library) {
    t.statement(
        fmt::format("{} = F.scaled_dot_product_attention({}, {}, {}{})", y, q, k, v, causal ? ", is_causal=True" : ""));
  } else {
    const std::string scores = t.local({"scores", "attn", "weights"});
    t.statement(fmt::format("{} = {} @ {}.transpose(-2, -1) * {}.shape[-1] ** -0.5", scores, q, k, q));
    if (causal) {
      const std::string mask = t.local({"mask", "causal"});
      t.statement(fmt::format("{} = torch.ones({}.shape[1], {}.shape[1], device={}.device, dtype=torch.bool).tril()",
                              mask, x, x, x));
      t.statement(fmt::format("{0} = {0}.masked_fill(~{1}, float(\"-inf\"))", scores, mask));
    }
    t.statement(fmt::format("{} = torch.softmax({}, dim=-1) @ {}", y, scores, v));
  }
  t.become(fmt::format("{}({}.transpose(1, 2).flatten(2))", out, y));
  t.sign("attention");
  t.cost(4 * value_bytes(t), 8.0 * static_cast<double>(t.elements() * width.value) + attention_flops(t));
  return true;
}

// Scores of two arguments that come ready as heads.
bool scores(ModuleText& t) {
  if (t.closed) return false;
  const std::string keys = t.argument({"keys", "memory", "context_in"}, t.randn(t.shape));
  t.become(
      fmt::format("torch.softmax({} @ {}.transpose(1, 2) / {}, dim=-1)", t.var, keys, t.pick({"8.0", "11.3", "16.0"})));
  t.sign("scores");
  t.cost(value_bytes(t), 2.0 * static_cast<double>(t.elements() * t.shape[1].value));
  t.shape[2] = t.shape[1];
  return true;
}

bool token_mixing(ModuleText& t) {
  const std::string mix =
      t.member({"mix", "token_mixer", "spatial"}, fmt::format("nn.Linear({0}, {0})", t.shape[1].text));
  t.become(fmt::format("{}({}.transpose(1, 2)).transpose(1, 2)", mix, t.var));
  t.sign("token_mixing");
  t.cost(value_bytes(t), 2.0 * static_cast<double>(t.elements() * t.shape[1].value));
  return true;
}

bool positions(ModuleText& t) {
  const std::string table =
      t.member({"positions", "pos_embed", "pos"},
               fmt::format("nn.Parameter(torch.randn({}, {}) * 0.02)", t.shape[1].text, t.shape[2].text));
  t.become(t.var + " + " + table);
  t.sign("positions");
  passes_over(t);
  return true;
}

bool token_shift(ModuleText& t) {
  const std::string last = t.local({"previous", "shifted", "last"});
  t.statement(fmt::format("{} = F.pad({}, (0, 0, 1, 0))[:, :-1]", last, t.var));
  t.become(t.pick({"0.5 * ", "0.25 * "}) + t.var + " + 0.5 * " + last);
  t.sign("token_shift");
  passes_over(t, 3);
  return true;
}

bool rotary(ModuleText& t) {
  if (t.closed || t.shape[2].value % 2 != 0) return false;
  const std::string angle =
      t.argument({"angles", "freqs"}, fmt::format("torch.rand({}, {} // 2){}", t.shape[1].text, t.shape[2].text,
                                                  t.dtype.empty() ? "" : ".to(" + t.dtype + ")"));
  const std::string a = t.local({"first", "x1"}), b = t.local({"second", "x2"});
  t.statement(fmt::format("{}, {} = {}.chunk(2, dim=-1)", a, b, t.var));
  t.become(fmt::format("torch.cat([{0} * {2}.cos() - {1} * {2}.sin(), {1} * {2}.cos() + {0} * {2}.sin()], dim=-1)", a,
                       b, angle));
  t.sign("rotary");
  passes_over(t, 4);
  return true;
}

bool gated_scan(ModuleText& t) {
  const std::string decay = t.member({"decay", "forget"}, "nn.Parameter(torch.rand(" + t.shape[2].text + "))");
  t.become(fmt::format("torch.cumsum({0} * torch.sigmoid({1}), dim=1) / 32.0", t.var, decay));
  t.sign("gated_scan");
  passes_over(t, 3);
  return true;
}

bool recurrent(ModuleText& t) {
  if (!t.dtype.empty() || t.shape[1].value > 512 || t.shape[0].value > 32) return false;
  const Dim hidden = t.size("hidden", t.sized({128, 192, 256}, {8, 12}));
  const std::string kind = t.pick({"GRU", "LSTM", "RNN"});
  const std::string layer = t.member({"rnn", "encoder", "recurrent"}, fmt::format("nn.{}({}, {}, batch_first=True)",
                                                                                  kind, t.shape[2].text, hidden.text));
  t.become(fmt::format("{}({})[0]", layer, t.var));
  t.sign("recurrent");
  for (int64_t step = 0; step < t.shape[1].value; ++step) t.cost(0);
  t.shape[2] = hidden;
  return true;
}

bool pool_tokens(ModuleText& t) {
  t.become(t.var + t.pick({".mean(dim=1)", ".amax(dim=1)", "[:, -1]", "[:, 0]"}));
  t.sign("pool_tokens");
  passes_over(t, 1);
  t.domain = Domain::rows;
  t.shape.erase(t.shape.begin() + 1);
  return true;
}

}  // namespace

extern const BlockFile tokens_def = {
    {"attention", Role::structured, kTokens, attention, 3},    {"scores", Role::structured, kTokens, scores},
    {"token_mixing", Role::structured, kTokens, token_mixing}, {"positions", Role::structured, kTokens, positions},
    {"token_shift", Role::structured, kTokens, token_shift},   {"rotary", Role::structured, kTokens, rotary},
    {"gated_scan", Role::structured, kTokens, gated_scan},     {"recurrent", Role::structured, kTokens, recurrent, 0.5},
    {"pool_tokens", Role::end, kTokens, pool_tokens, 2},
};

}  // namespace mtmc
