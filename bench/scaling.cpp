// Seconds that macro thinking takes on large networks, against the number of operators: all actions enumerated, put in
// order by the greedy policy, one of them taken, the Program verified, hashed and printed as a module.
//   ninja -C build/release bench_scaling && build/release/bench_scaling [TARGET [LAYERS...]]
// The networks are encoders as BERT has them, of 20 operators a layer; an argument that is a file is a Program's text.
// They are priced for an H200 or, where the target runs on a CPU, for the null hardware: alike on every machine.
#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>

#include "base/file.h"
#include "base/process.h"
#include "search/policy.h"
#include "targets/target.h"

namespace {

using namespace mtmc;

// Batch 8, 128 tokens, width 768, 12 heads.
std::string encoder(int layers) {
  std::string params, nodes, kernels;
  int next = 0, place = 0;
  const auto value = [&](std::string& text, const std::string& what, const std::string& type) {
    text += fmt::format("  %{} = {} : {}\n", next, what, type);
    return next++;
  };
  const auto param = [&](const std::string& type) { return value(params, fmt::format("param \"p{}\"", next), type); };
  const auto node = [&](const std::string& call, const std::string& type) {
    const int id = value(nodes, call, type);
    kernels += fmt::format("kernel k{} = {{ %{} }} library\n", place++, id);
    return id;
  };
  struct Layer {
    int weights[4], biases[4], scales[2], shifts[2], wide, wide_bias, narrow, narrow_bias;
  };
  int x = value(params, "input \"x\"", "f32[8,128,768]");
  std::vector<Layer> all(static_cast<size_t>(layers));
  for (Layer& layer : all) {
    for (int& id : layer.weights) id = param("f32[768,768]");
    for (int& id : layer.biases) id = param("f32[768]");
    for (int& id : layer.scales) id = param("f32[768]");
    for (int& id : layer.shifts) id = param("f32[768]");
    layer.wide = param("f32[3072,768]"), layer.wide_bias = param("f32[3072]");
    layer.narrow = param("f32[768,3072]"), layer.narrow_bias = param("f32[768]");
  }
  const std::string flat = "f32[8,128,768]", heads = "f32[8,12,128,64]", wide = "f32[8,128,3072]";
  for (const Layer& layer : all) {
    int parts[3];
    for (int i = 0; i < 3; ++i) {
      const int y = node(fmt::format("linear(%{}, %{}, %{})", x, layer.weights[i], layer.biases[i]), flat);
      const int z = node(fmt::format("reshape(%{}, shape=[8,128,12,64])", y), "f32[8,128,12,64]");
      parts[i] = node(fmt::format("transpose(%{}, dim0=1, dim1=2)", z), heads);
    }
    const int mixed =
        node(fmt::format("scaled_dot_product_attention(%{}, %{}, %{})", parts[0], parts[1], parts[2]), heads);
    const int back = node(fmt::format("transpose(%{}, dim0=1, dim1=2)", mixed), "f32[8,128,12,64]");
    const int joined = node(fmt::format("reshape(%{}, shape=[8,128,768])", back), flat);
    const int out = node(fmt::format("linear(%{}, %{}, %{})", joined, layer.weights[3], layer.biases[3]), flat);
    const auto norm = [&](int id, int which) {
      return node(fmt::format("layer_norm(%{}, %{}, %{}, eps=1e-12, normalized_shape=[768])", id, layer.scales[which],
                              layer.shifts[which]),
                  flat);
    };
    const int first = norm(node(fmt::format("add(%{}, %{})", out, x), flat), 0);
    const int up = node(fmt::format("linear(%{}, %{}, %{})", first, layer.wide, layer.wide_bias), wide);
    const int curved = node(fmt::format("gelu(%{})", up), wide);
    const int down = node(fmt::format("linear(%{}, %{}, %{})", curved, layer.narrow, layer.narrow_bias), flat);
    x = norm(node(fmt::format("add(%{}, %{})", down, first), flat), 1);
  }
  return "program encoder {\n" + params + nodes + fmt::format("  return %{}\n}}\n", x) + kernels;
}

double seconds_of(const std::function<void()>& work) {
  const double start = now_seconds();
  work();
  return now_seconds() - start;
}

Status measure(const std::string& text, const TargetDef& target) {
  const Hardware hardware = target.device == Device::cuda ? h200_hardware() : null_hardware();
  const ActionContext context{hardware, target};
  MTMC_TRY(const Program program, parse_program(text));
  ModuleShell shell;
  shell.constructor_source = "class ModelNew(torch.nn.Module):\n    # mtmc: forward\n";
  Result<Code> code = Error{};
  const double emitted = seconds_of([&] { code = target.emit(program, hardware, shell); });
  if (!code.ok()) return code.error();
  std::vector<Proposal> proposals;
  const double enumerated = seconds_of([&] {
    for (Action& action : enumerate_actions(program, context)) {
      std::string rendered = render(action, program, *code);
      proposals.push_back({std::move(action), std::move(rendered)});
    }
  });
  MTMC_TRY(const auto policy, find_policy("greedy")->make({hardware, target}));
  const Observation observation{hardware.name, program.name, code->text, &program, {}, "", 0};
  Result<Ranking> order = Error{};
  const double ranked = seconds_of([&] { order = policy->rank(observation, proposals); });
  if (!order.ok()) return order.error();
  const Proposal& favourite = proposals[order->order.front()];
  Result<Program> after = Error{};
  const double taken = seconds_of([&] { after = apply_action(program, favourite.action, context); });
  if (!after.ok()) return after.error();
  Result<Code> next = Error{};
  const double emitted_next = seconds_of([&] { next = target.emit(*after, hardware, shell); });
  if (!next.ok()) return next.error();
  const double hashed = seconds_of([&] { (void)state_hash(program); });
  fmt::print("{:9} {:8} {:10.3f} {:8.3f} {:8.3f} {:8.3f} {:8.3f} {:8.3f}  {}\n", program.nodes.size(), proposals.size(),
             enumerated, ranked, taken, emitted, emitted_next, hashed, favourite.text.substr(0, 60));
  return ok_status();
}

// A Program's text, by its file or by a number of layers.
Result<std::string> network(const std::string& word) {
  if (std::filesystem::exists(word)) return read_file(word);
  const int layers = std::atoi(word.c_str());
  if (layers < 1)
    return Error{"reading a network", "neither a file nor a number of layers", word, "10, or program.txt"};
  return encoder(layers);
}

}  // namespace

int main(int argc, char** argv) {
  const TargetDef* target = find_target(argc > 1 ? argv[1] : "triton");
  if (target == nullptr) {
    fmt::print(stderr, "there is no target {}\n", argv[1]);
    return 2;
  }
  std::vector<std::string> words(argv + std::min(argc, 2), argv + argc);
  if (words.empty()) words = {"3", "10", "30", "50", "100", "150"};
  fmt::print("{:>9} {:>8} {:>10} {:>8} {:>8} {:>8} {:>8} {:>8}  favourite\n", "operators", "actions", "enumerate",
             "rank", "apply", "emit", "emit it", "hash");
  int failed = 0;
  for (const std::string& word : words) {
    const Result<std::string> text = network(word);
    const Status done = text.ok() ? measure(*text, *target) : Status(text.error());
    if (!done.ok()) fmt::print(stderr, "{}: {}\n", word, done.error().message());
    failed += !done.ok();
    std::fflush(stdout);
  }
  return failed > 0 ? 1 : 0;
}
