// A request that is wrong is answered with {"error": ...}, and the next one is read: the process outlives mistakes.
#include "lm/verbs.h"

#include <ATen/Parallel.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/tensor.h>
#include <c10/core/GradMode.h>
#include <fmt/core.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "lm/captured_scores.h"
#include "lm/generate.h"
#include "lm/model.h"
#include "lm/policy_config.h"
#include "lm/scoring.h"

namespace mtmc::lm {
namespace {

struct Opened {
  Checkpoint checkpoint;
  Model model;
  PolicyConfig policy;
};

bool is_large(const ModelConfig& config) {
  constexpr int64_t kLarge = 20'000'000;  // weights of the layers, about
  return config.layers * config.width * (4 * config.width + 3 * config.inner) >= kLarge;
}

// auto: bf16 takes a large model half of the time where the device computes in it; a small one is quick in any case.
std::string chosen_dtype(const VerbOptions& options, const ModelConfig& config) {
  if (options.dtype != "auto") return options.dtype;
  return is_large(config) && (options.device != "cpu" || computes_in_bf16()) ? "bf16" : "fp32";
}

Result<Opened> open_model(const VerbOptions& options) {
  MTMC_TRY(Checkpoint checkpoint, open_checkpoint(options.model));
  // Threads of a small model wait for each other more than they save, on a busy machine for seconds.
  if (!is_large(checkpoint.config)) at::set_num_threads(1);
  MTMC_TRY(const Placement placement, find_placement(options.device, chosen_dtype(options, checkpoint.config)));
  MTMC_TRY(Model model, Model::load(checkpoint, placement));
  if (!options.adapter.empty()) MTMC_RETURN_IF_ERROR(model.load_adapter(options.adapter));
  checkpoint.tensors.clear();
  MTMC_TRY(PolicyConfig policy, kept_policy_config(options.adapter.empty() ? options.model : options.adapter));
  return Opened{std::move(checkpoint), std::move(model), std::move(policy)};
}

void write_line(const Json& json) {
  fmt::print("{}\n", json.dump(-1, ' ', false, Json::error_handler_t::replace));
  std::fflush(stdout);
}

// Says that it is ready, how many tokens the model reads, and how it was trained to, then calls `answer`,
// Json -> Result<Json>, for each line; "id" comes back as it was sent.
template <typename Answer>
Status serve(const Opened* opened, Answer&& answer) {
  Json ready = {{"ready", true}};
  if (opened != nullptr) ready["context"] = opened->model.config().context, ready["policy"] = to_json(opened->policy);
  write_line(ready);
  for (std::string line; std::getline(std::cin, line);) {
    if (line.empty()) continue;
    const Json request = Json::parse(line, nullptr, false);
    Result<Json> reply = Error{"reading a request", "not an object", line.substr(0, 200), "a line of JSON"};
    if (request.is_object()) try {
        reply = answer(request);
      } catch (const Json::exception& error) {
        reply = Error{"reading a request", error.what(), line.substr(0, 200), "what docs/LM.md says"};
      }
    Json json = Json::object();
    if (reply.ok()) {
      json = std::move(*reply);
    } else {
      const Error& error = reply.error();
      json["error"] = {{"doing", error.doing}, {"wrong", error.wrong}, {"got", error.got}, {"wanted", error.wanted}};
    }
    if (request.is_object() && request.contains("id")) json["id"] = request["id"];
    write_line(json);
  }
  return ok_status();
}

std::vector<float> floats(const at::Tensor& tensor) {
  const at::Tensor on_host = tensor.to(at::kCPU, at::kFloat).contiguous();
  return {on_host.data_ptr<float>(), on_host.data_ptr<float>() + on_host.numel()};
}

// On a GPU all of a row anew, captured; else what prompts have in common is not computed again.
struct Scores {
  at::Tensor of(const Model& model, const Prompt& prompt, ScoreMode mode) {
    reused = 0;
    if (model.placement().device.is_cuda() && CapturedScores::takes(model, prompt))
      return captured.score(model, prompt, mode);
    const Understood& understood = cache.understand(model, prompt.tokens);
    reused = cache.reused();
    return score(model, understood, prompt.actions, mode);
  }
  CapturedScores captured;
  PromptCache cache;
  int64_t reused = 0;  // tokens of the last prompt
};

Result<Json> answer_score(const Opened& opened, Scores& kept, const Json& request) {
  if (request.contains("count")) {
    MTMC_TRY(const auto tokens, opened.checkpoint.tokenizer.encode(request["count"].get<std::string>(), false));
    return Json{{"tokens", tokens.size()}};
  }
  MTMC_TRY(const ScoreMode mode, score_mode(request.value("mode", to_string(opened.policy.scores))));
  const double temperature = request.value("temperature", 1.0);
  if (!(temperature > 0))
    return Error{"scoring actions", "impossible temperature", fmt::format("{}", temperature), "more than 0"};
  MTMC_TRY(Prompt prompt, read_prompt(opened.checkpoint.tokenizer, opened.model.config(), request.at("prompt"),
                                      request.at("actions").get<std::vector<std::string>>()));
  std::vector<double> gains(prompt.actions.size(), 0);
  if (opened.policy.prior.weight > 0) {
    gains = request.value("gains", std::vector<double>());
    if (gains.size() != prompt.actions.size())
      return Error{"scoring actions",
                   "this policy adds to what the cost model expects, and has no such number for each",
                   fmt::format("{} gains", gains.size()), fmt::format("{}", prompt.actions.size())};
  }
  add_prior(prompt, gains, opened.policy.prior);
  const at::Tensor scores = kept.of(opened.model, prompt, mode);
  const Categorical choice = categorical(scores, temperature);
  Json json = {{"scores", floats(scores)},
               {"log_probabilities", floats(choice.log_probabilities)},
               {"entropy", choice.entropy().item<double>()},
               {"greedy", choice.greedy()},
               {"prompt_tokens", prompt.tokens.size()},
               {"reused_tokens", kept.reused}};
  if (request.contains("seed")) {
    Rng rng(request["seed"].get<uint64_t>());
    json["sampled"] = choice.sample(rng);
  }
  return json;
}

Result<Json> answer_tokenize(const Tokenizer& tokenizer, const Json& request) {
  if (request.contains("tokens"))
    return Json{{"text", tokenizer.decode(request["tokens"].get<std::vector<TokenId>>(),
                                          request.value("skip_special", false))}};
  MTMC_TRY(auto tokens, tokenizer.encode(request.at("text").get<std::string>(), request.value("special", true)));
  return Json{{"tokens", tokens}};
}

Result<Json> answer_generate(const Opened& opened, const Json& request) {
  const Tokenizer& tokenizer = opened.checkpoint.tokenizer;
  GenerateRequest wanted{{}, request.value("tokens", int64_t{64}), request.value("temperature", 0.0)};
  MTMC_TRY(wanted.prompt, tokenizer.encode(request.at("prompt").get<std::string>(), true));
  Rng rng(request.value("seed", uint64_t{0}));
  MTMC_TRY(const Generated made, generate(opened.model, wanted, rng));
  return Json{{"text", tokenizer.decode(made.tokens, true)}, {"tokens", made.tokens}, {"ended", made.ended}};
}

Result<Json> answer_logits(const Opened& opened, const Json& request) {
  const auto tokens = request.at("tokens").get<std::vector<TokenId>>();
  const ModelConfig& config = opened.model.config();
  if (tokens.empty() || static_cast<int64_t>(tokens.size()) > config.context)
    return Error{"computing logits", "an impossible number of tokens", std::to_string(tokens.size()),
                 fmt::format("1 to {}", config.context)};
  for (const TokenId token : tokens)
    if (token < 0 || token >= config.vocabulary)
      return Error{"computing logits", "no such token", std::to_string(token),
                   fmt::format("0 to {}", config.vocabulary - 1)};
  Json rows = Json::array();
  const at::Tensor row = at::tensor(std::vector<int64_t>(tokens.begin(), tokens.end()), at::kLong).unsqueeze(0);
  const at::Tensor states = opened.model.states(row, {})[0];
  for (int64_t i = 0; i < states.size(0); ++i) rows.push_back(floats(at::matmul(opened.model.head(), states[i])));
  return Json{{"logits", rows}};
}

}  // namespace

Status tokenize_lines(const VerbOptions& options) {
  if (options.model.ends_with(".json")) {
    MTMC_TRY(const Tokenizer tokenizer, Tokenizer::from_file(options.model));
    return serve(nullptr, [&](const Json& request) { return answer_tokenize(tokenizer, request); });
  }
  MTMC_TRY(const Checkpoint checkpoint, open_checkpoint(options.model));
  return serve(nullptr, [&](const Json& request) { return answer_tokenize(checkpoint.tokenizer, request); });
}

Status score_lines(const VerbOptions& options) {
  const at::AutoGradMode no_grad(false);
  MTMC_TRY(const Opened opened, open_model(options));
  Scores kept;
  return serve(&opened, [&](const Json& request) { return answer_score(opened, kept, request); });
}

Status generate_lines(const VerbOptions& options) {
  const at::AutoGradMode no_grad(false);
  MTMC_TRY(const Opened opened, open_model(options));
  return serve(&opened, [&](const Json& request) { return answer_generate(opened, request); });
}

Status logits_lines(const VerbOptions& options) {
  const at::AutoGradMode no_grad(false);
  MTMC_TRY(const Opened opened, open_model(options));
  return serve(&opened, [&](const Json& request) { return answer_logits(opened, request); });
}

}  // namespace mtmc::lm
