#include "train/commands.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "lm/policy_config.h"
#include "train/budget_curves.h"
#include "train/evaluate.h"
#include "train/fresh.h"
#include "train/phases.h"
#include "train/run.h"
#include "train/split.h"

namespace mtmc::train {
namespace {

constexpr int kDone = 0, kNotYet = 1;
constexpr double kSharpness = 20;  // of the cost model's softmax, beside a policy without a prior

using Body = std::function<Result<int>()>;

struct EvaluationOptions {
  std::string model, adapter, device = "cpu", dtype = "fp32", part = "held-out", out;
  std::vector<std::string> data, methods;
  int64_t steps = 8, context = 0, seed = 0, samples = 4, curve = 0;
  double held_out = 0.1;
};

struct MergeOptions {
  std::string model, adapter, out;
};

// Options that training and measuring share.
template <typename Options>
void add_common(CLI::App& command, Options& options) {
  command.add_option("--model", options.model, "a Hugging Face folder or a GGUF file")->required();
  command.add_option("--adapter", options.adapter, "a LoRA adapter in PEFT's layout, to begin with");
  command.add_option("--data", options.data, "datasets, as `mtmc dataset export` writes them")->required();
  command
      .add_option("--device", options.device, "cpu, cuda or cuda:N; of several processes each takes cuda:LOCAL_RANK")
      ->capture_default_str();
  command.add_option("--dtype", options.dtype, "fp32 or bf16")->capture_default_str();
  command.add_option("--steps", options.steps, "the most steps of an episode")->capture_default_str();
  command.add_option("--context", options.context, "tokens of a prompt (as the model was trained, else 1024)");
  command.add_option("--held-out", options.held_out, "share of the tasks, by name, that is not learned from")
      ->capture_default_str();
  command.add_option("--seed", options.seed, "random numbers of all that is drawn")->capture_default_str();
}

void add_run_options(CLI::App& command, RunOptions& options) {
  add_common(command, options);
  command.add_option("--out", options.out, "the run's folder; the same command goes on there")->required();
  command.add_option("--budget", options.budget,
                     "begin no further update after so many seconds; the same command goes on");
  command.add_option("--weights", options.weights, "what is trained: lora, or all")->capture_default_str();
  command.add_option("--rank", options.lora.rank, "rank of a new adapter")->capture_default_str();
  command.add_option("--alpha", options.lora.alpha, "alpha of a new adapter")->capture_default_str();
  command.add_option("--targets", options.lora.targets, "projections that a new adapter changes")
      ->capture_default_str();
  command
      .add_option("--scores", options.scores,
                  "an action's score: sum over its tokens, or that divided by its tokens or words (as the model was "
                  "trained, else sum)")
      ->check(CLI::IsMember({"sum", "token", "word"}));
  command
      .add_option(
          "--prior", options.prior,
          "an action's score begins at so many times what the cost model expects (as the model was trained, else 0)")
      ->check(CLI::Range(0.0, 1e6));
  command
      .add_option("--voice", options.voice,
                  "weight of the model's own scores beside the prior (as the model was trained, else 1)")
      ->check(CLI::PositiveNumber);
  command.add_option("--reward-options", options.reward_options, R"(the reward's numbers, {"gain": 2})");
}

// What each phase of several has of its own.
void add_own_options(CLI::App& command, RunOptions& options) {
  command.add_option("--updates", options.updates, "how many updates in all")->capture_default_str();
  command.add_option("--until", options.until, "stop for now when so many updates are done");
  std::string rewards;
  for (const RewardDef* def : all_rewards()) rewards += (rewards.empty() ? "" : ", ") + std::string(def->name);
  command.add_option("--reward", options.reward, rewards)->capture_default_str();
}

// "cuda" with torchrun's variables: each process its own.
std::string own_device(const std::string& device) {
  const char* local = std::getenv("LOCAL_RANK");
  return device == "cuda" && local != nullptr ? "cuda:" + std::string(local) : device;
}

Result<int> train_and_tell(RunOptions options) {
  MTMC_TRY(Processes processes, Processes::join());
  options.device = own_device(options.device);
  Progress progress(stdout);
  MTMC_TRY(const bool finished, run_training(options, processes, processes.rank() == 0 ? &progress : nullptr));
  if (processes.rank() == 0)
    progress.line(finished ? fmt::format("done: the policy is in {}", (options.out / "policy").string())
                           : "stopped for now: the same command goes on");
  return finished ? kDone : kNotYet;
}

// `curves`: of the same tasks, or none.
Status write_rows(const std::string& file, const std::vector<TaskOutcomes>& tasks,
                  const std::vector<TaskCurves>& curves) {
  std::string text;
  for (const TaskOutcomes& task : tasks) {
    Json row = {{"task", task.name}, {"hardware", task.hardware}, {"best known", std::exp(task.known)}};
    for (size_t way = 0; way < std::size(kWays); ++way)
      row[kWays[way]] = {{"speedup", std::exp(task.outcomes[way].gain)},
                         {"steps", task.outcomes[way].steps},
                         {"stopped", task.outcomes[way].stopped}};
    if (!curves.empty()) row["curves"] = to_json(curves[static_cast<size_t>(&task - tasks.data())]);
    text += row.dump() + "\n";
  }
  return write_file(file, text);
}

Result<int> evaluate_and_tell(const EvaluationOptions& options) {
  MTMC_TRY(const lm::Placement placement, lm::find_placement(options.device, options.dtype));
  MTMC_TRY(Data data, read_data(options.data));
  MTMC_TRY(const Checkpoint checkpoint, open_checkpoint(options.model));
  MTMC_TRY(lm::Model model, lm::Model::load(checkpoint, placement));
  if (!options.adapter.empty()) MTMC_RETURN_IF_ERROR(model.load_adapter(options.adapter));
  MTMC_TRY(const lm::PolicyConfig config,
           lm::kept_policy_config(options.adapter.empty() ? options.model : options.adapter));
  if (!config.view.empty() && data.view != config.view)
    return Error{"measuring a policy", "the data shows something else than the policy was trained to read", data.view,
                 config.view};
  const Reader reader(checkpoint.tokenizer, checkpoint.config, options.context > 0 ? options.context : config.context,
                      config.prior);
  TreeDynamics dynamics(std::move(data.trees));
  EvaluationRequest request{.model = model,
                            .reader = reader,
                            .dynamics = dynamics,
                            .tasks = {},
                            .steps = static_cast<int>(options.steps),
                            .samples = static_cast<int>(options.samples),
                            .seed = static_cast<uint64_t>(options.seed),
                            .scores = config.scores};
  for (size_t i = 0; i < dynamics.tasks(); ++i) {
    const bool held_out = is_held_out(dynamics.trees()[i].name, options.held_out);
    if (options.part == "all" || held_out == (options.part == "held-out")) request.tasks.push_back(i);
  }
  if (request.tasks.empty())
    return Error{"measuring a policy", "no task is " + options.part, fmt::format("{} in all", dynamics.tasks()),
                 "more tasks, another --held-out, or --part all"};
  MTMC_TRY(const auto tasks, evaluate(request));
  fmt::print("{} tasks; geometric means; over random: with its 95 % interval\n", tasks.size());
  fmt::print("{:<10}{:>10}{:>12}{:>8}{:>10}{:>24}\n", "", "speedup", "of known", "steps", "stopped", "over random");
  for (size_t way = 0; way < std::size(kWays); ++way) {
    const Summary s = summary_of(tasks, way);
    fmt::print("{:<10}{:>9.3f}x{:>10.1f} %{:>8.2f}{:>8.0f} %{:>24}\n", kWays[way], s.speedup, 100 * s.of_known, s.steps,
               100 * s.stopped, fmt::format("{:.3f} ({:.3f}-{:.3f})", s.over_random, s.low, s.high));
  }
  std::vector<TaskCurves> curves;
  if (options.curve > 0) {
    const double sharpness = config.prior.weight > 0 ? config.prior.weight : kSharpness;
    MTMC_TRY(curves, budget_curves(request, static_cast<size_t>(options.curve), sharpness, options.methods));
    fmt::print("\nof known, by the best of so many states; 95 % at: how many it takes; found: how many it met\n{}",
               curve_table(curves));
  }
  if (!options.out.empty()) MTMC_RETURN_IF_ERROR(write_rows(options.out, tasks, curves));
  return kDone;
}

Result<int> train_phases_and_tell(PhasesOptions options) {
  MTMC_TRY(Processes processes, Processes::join());
  options.run.device = own_device(options.run.device);
  Progress progress(stdout);
  MTMC_TRY(const Phases phases, run_phases(options, processes, processes.rank() == 0 ? &progress : nullptr));
  if (processes.rank() != 0) return phases.finished ? kDone : kNotYet;
  if (!phases.finished) {
    progress.line("stopped for now: the same command goes on");
    return kNotYet;
  }
  progress.line(fmt::format("done: the policy is --model {}{}", phases.model,
                            phases.adapter.empty() ? "" : " --adapter " + phases.adapter));
  const RunOptions& run = options.run;
  return evaluate_and_tell({.model = phases.model,
                            .adapter = phases.adapter,
                            .device = run.device,
                            .dtype = run.dtype,
                            .part = run.held_out > 0 ? "held-out" : "all",
                            .out = (run.out / "evaluation.jsonl").string(),
                            .data = run.data,
                            .methods = {},
                            .steps = run.steps,
                            .context = run.context,
                            .seed = run.seed,
                            .held_out = run.held_out});
}

Result<int> merge(const MergeOptions& options) {
  MTMC_TRY(const Checkpoint checkpoint, open_checkpoint(options.model));
  MTMC_TRY(lm::Model model, lm::Model::load(checkpoint, {}));
  MTMC_RETURN_IF_ERROR(model.load_adapter(options.adapter));
  model.merge_adapter();
  MTMC_TRY(const std::string tokenizer, tokenizer_text(options.model));
  MTMC_RETURN_IF_ERROR(model.save(options.out, tokenizer));
  MTMC_TRY(const lm::PolicyConfig config, lm::kept_policy_config(options.adapter));
  MTMC_RETURN_IF_ERROR(lm::keep_policy_config(options.out, config));
  return kDone;
}

Body add_new(CLI::App& command) {
  const auto options = std::make_shared<FreshOptions>();
  command.add_option("--tokenizer", options->tokenizer, "a model's folder, a GGUF file or a tokenizer.json")
      ->required();
  command.add_option("--out", options->out, "the new model's folder")->required();
  command.add_option("--width", options->width, "width of the model")->capture_default_str();
  command.add_option("--layers", options->layers, "how many layers")->capture_default_str();
  command.add_option("--heads", options->heads, "attention heads")->capture_default_str();
  command.add_option("--kv-heads", options->kv_heads, "heads of keys and values")->capture_default_str();
  command.add_option("--inner", options->inner, "width inside of the MLPs")->capture_default_str();
  command.add_option("--context", options->context, "the most tokens that it reads")->capture_default_str();
  command.add_option("--seed", options->seed, "random numbers of its first weights")->capture_default_str();
  return [options]() -> Result<int> {
    MTMC_TRY(const int64_t weights, write_fresh_model(*options));
    fmt::print("{} weights in {}\n", weights, options->out.string());
    return kDone;
  };
}

Body add_algorithm(CLI::App& command, const AlgorithmDef& def) {
  const auto options = std::make_shared<RunOptions>();
  options->algorithm = def.name;
  add_run_options(command, *options);
  add_own_options(command, *options);
  for (const Setting& setting : def.settings) {
    double& value = options->settings[setting.name] = setting.value;
    command.add_option("--" + std::string(setting.name), value, setting.doc)
        ->capture_default_str()
        ->group("Settings of " + std::string(def.name));
  }
  return [options] { return train_and_tell(*options); };
}

Body add_policy(CLI::App& command) {
  const auto options = std::make_shared<PhasesOptions>();
  add_run_options(command, options->run);
  command.add_option("--phase", options->phases, "ALGORITHM NAME=VALUE...: one after the other")->capture_default_str();
  return [options] { return train_phases_and_tell(*options); };
}

Body add_evaluate(CLI::App& command) {
  const auto options = std::make_shared<EvaluationOptions>();
  add_common(command, *options);
  command.add_option("--part", options->part, "which tasks: held-out, learned, or all")
      ->check(CLI::IsMember({"held-out", "learned", "all"}))
      ->capture_default_str();
  command.add_option("--samples", options->samples, "drawn walks of each task")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command
      .add_option("--curve", options->curve,
                  "also what repeated walks and searches find with 1, 2, 4, ... states, up to so many (0: not)")
      ->check(CLI::Range(0, 100000));
  command.add_option("--methods", options->methods, "of these curves only some (all)")
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(kMethods), std::end(kMethods))));
  command.add_option("--out", options->out, "a line of JSON for each task");
  return [options] { return evaluate_and_tell(*options); };
}

Body add_merge(CLI::App& command) {
  const auto options = std::make_shared<MergeOptions>();
  command.add_option("--model", options->model, "a Hugging Face folder or a GGUF file")->required();
  command.add_option("--adapter", options->adapter, "the LoRA adapter that becomes part of it")->required();
  command.add_option("--out", options->out, "the merged model's folder")->required();
  return [options] { return merge(*options); };
}

}  // namespace

Body add_commands(CLI::App& app) {
  CLI::App* train = app.add_subcommand("train", "Train a policy (docs/TRAINING.md)");
  train->require_subcommand(1);
  std::vector<std::pair<CLI::App*, Body>> words;
  const auto add = [&](const std::string& name, const std::string& doc, auto&& declare) {
    CLI::App* command = train->add_subcommand(name, doc);
    words.emplace_back(command, declare(*command));
  };
  add("new", "a small model with random weights", add_new);
  for (const AlgorithmDef* def : all_algorithms())
    add(std::string(def->name), std::string(def->doc),
        [def](CLI::App& command) { return add_algorithm(command, *def); });
  add("policy", "phases of these, one after the other, and what the policy reaches then", add_policy);
  add("evaluate", "what a policy reaches on the tasks of a dataset", add_evaluate);
  add("merge", "an adapter becomes part of the weights", add_merge);
  return [words]() -> Result<int> {
    for (const auto& [command, body] : words)
      if (command->parsed()) return body();
    return kDone;
  };
}

}  // namespace mtmc::train
