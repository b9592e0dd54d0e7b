#include "train/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/process.h"
#include "lm/policy_config.h"
#include "search/weights.h"
#include "train/run_folder.h"
#include "train/split.h"

namespace mtmc::train {
namespace {

constexpr const char* kSettingUp = "setting up training";
constexpr const char* kFormat = "mtmc-training-2";
constexpr int64_t kDrawn = 10;  // updates from one picture to the next

Result<EpisodeOptions> episode_options(const RunOptions& options) {
  EpisodeOptions episode{.steps = static_cast<int>(options.steps), .reward = find_reward(options.reward)};
  if (episode.reward == nullptr) {
    std::string names;
    for (const RewardDef* def : all_rewards()) names += (names.empty() ? "" : ", ") + std::string(def->name);
    return Error{kSettingUp, "there is no such reward", options.reward, names};
  }
  if (!options.reward_options.empty()) {
    MTMC_TRY(episode.reward_options, reward_options(Json::parse(options.reward_options, nullptr, false)));
  }
  return episode;
}

// The policy and what it was before; they share the weights that are not trained.
struct Models {
  lm::Model policy, reference;
};

Result<Models> load_models(const RunOptions& options, const Checkpoint& checkpoint) {
  MTMC_TRY(const lm::Placement placement, lm::find_placement(options.device, options.dtype));
  MTMC_TRY(lm::Model policy, lm::Model::load(checkpoint, placement));
  lm::Model reference = policy;
  if (!options.adapter.empty()) {
    MTMC_RETURN_IF_ERROR(policy.load_adapter(options.adapter));
    MTMC_RETURN_IF_ERROR(reference.load_adapter(options.adapter));
  }
  if (options.weights == "all") {
    MTMC_TRY(reference, lm::Model::load(checkpoint, placement));
    if (!options.adapter.empty()) {
      MTMC_RETURN_IF_ERROR(reference.load_adapter(options.adapter));
      reference.merge_adapter(), policy.merge_adapter();
    }
  } else if (options.adapter.empty()) {
    Rng rng(seed_for(static_cast<uint64_t>(options.seed), {6}));
    MTMC_RETURN_IF_ERROR(policy.add_lora(options.lora, rng));
  }
  return Models{std::move(policy), std::move(reference)};
}

// All that shapes the result.
Result<Json> asked_of(const RunOptions& options, const std::map<std::string, double>& settings,
                      const lm::PolicyConfig& config, const Checkpoint& checkpoint, const Data& data) {
  Json asked = {{"format", kFormat},
                {"algorithm", options.algorithm},
                {"settings", settings},
                {"model", checkpoint.fingerprint},
                {"adapter", ""},
                {"data", data.digest},
                {"weights", options.weights},
                {"dtype", options.dtype},
                {"scores", lm::to_string(config.scores)},
                {"reward", options.reward},
                {"reward options", options.reward_options},
                {"updates", options.updates},
                {"steps", options.steps},
                {"context", config.context},
                {"prior", config.prior.weight},
                {"held out", options.held_out},
                {"seed", options.seed}};
  if (config.prior.voice != 1) asked["voice"] = config.prior.voice;
  if (!options.adapter.empty()) {
    MTMC_TRY(const Weights weights, find_weights(options.adapter));
    asked["adapter"] = weights.digest;
  } else if (options.weights == "lora") {
    asked["new adapter"] = {options.lora.rank, options.lora.alpha, options.lora.targets};
  }
  return asked;
}

Result<std::map<std::string, double>> settings_of(const RunOptions& options, const AlgorithmDef& algorithm) {
  std::map<std::string, double> settings;
  for (const Setting& setting : algorithm.settings) settings[setting.name] = setting.value;
  for (const auto& [name, value] : options.settings) {
    if (!settings.contains(name))
      return Error{kSettingUp, fmt::format("{} has no such setting", algorithm.name), name, "what its --help shows"};
    settings[name] = value;
  }
  return settings;
}

class Runner {
 public:
  Runner(const RunOptions& options, Lesson& lesson, Algorithm& algorithm, RunFolder& folder, Progress* progress)
      : options_(options), lesson_(lesson), algorithm_(algorithm), folder_(folder), progress_(progress) {}

  Result<bool> run() {
    tensors_ = lesson_.optimizer.state();
    tensors_.merge(algorithm_.state());
    MTMC_TRY(int64_t done, folder_.restore(tensors_));
    if (done > 0) say(fmt::format("going on after {} of {} updates", done, lesson_.updates));
    const double begun = now_seconds();
    const int64_t first = done;
    for (bool spent = false; done < lesson_.updates && !spent;) {
      const double started = now_seconds();
      MTMC_TRY(Metrics metrics, algorithm_.update(done));
      const double now = now_seconds();
      metrics.emplace_back("seconds", now - started);
      ++done;
      if (progress_ != nullptr) {
        MTMC_RETURN_IF_ERROR(folder_.keep(done, tensors_, metrics));
        if (done % kDrawn == 0) MTMC_RETURN_IF_ERROR(folder_.draw());
        tell(done, metrics, (now - begun) / static_cast<double>(done - first));
      }
      const bool own =
          (options_.until > 0 && done >= options_.until) || (options_.budget > 0 && now - begun > options_.budget);
      MTMC_TRY(const auto all, lesson_.processes.gather({own ? 1.0 : 0.0}));  // the first one's clock counts
      spent = all[0][0] != 0;
    }
    if (progress_ != nullptr) MTMC_RETURN_IF_ERROR(folder_.draw());
    return done >= lesson_.updates;
  }

 private:
  void say(const std::string& text) {
    if (progress_ != nullptr) progress_->line(text);
  }

  void tell(int64_t done, const Metrics& metrics, double each) {
    std::string some;
    for (const auto& [name, value] : metrics) some += fmt::format("  {} {:.3g}", name, value);
    if (done == 1 || done % kDrawn == 0 || done == lesson_.updates)
      progress_->line(fmt::format("update {}/{}:{}", done, lesson_.updates, some));
    progress_->live(lesson_.progress(done), each * static_cast<double>(lesson_.updates - done),
                    fmt::format("update {}", done), some);
  }

  const RunOptions& options_;
  Lesson& lesson_;
  Algorithm& algorithm_;
  RunFolder& folder_;
  Progress* progress_;
  Tensors tensors_;
};

}  // namespace

Status check_run(const RunOptions& options) {
  const auto wrong = [](const std::string& option, const std::string& got, const std::string& wanted) {
    return Error{kSettingUp, option + " makes no sense", got, wanted};
  };
  if (options.weights != "lora" && options.weights != "all") return wrong("--weights", options.weights, "lora or all");
  if (options.weights == "all" && options.dtype != "fp32")
    return wrong("--dtype", options.dtype, "fp32 where all weights are trained");
  if (options.updates < 1) return wrong("--updates", std::to_string(options.updates), "1 or more");
  if (options.steps < 1) return wrong("--steps", std::to_string(options.steps), "1 or more");
  if (!(options.held_out >= 0 && options.held_out < 1))
    return wrong("--held-out", fmt::format("{}", options.held_out), "0 or more, less than 1");
  const AlgorithmDef* def = find_algorithm(options.algorithm);
  MTMC_CHECK(def != nullptr, "no such algorithm");
  if (!options.scores.empty() && !lm::score_mode(options.scores).ok())
    return wrong("--scores", options.scores, "sum, token or word");
  MTMC_RETURN_IF_ERROR(settings_of(options, *def));
  MTMC_RETURN_IF_ERROR(episode_options(options));
  return ok_status();
}

Result<bool> run_training(const RunOptions& options, Processes& processes, Progress* progress) {
  MTMC_RETURN_IF_ERROR(check_run(options));
  const AlgorithmDef* def = find_algorithm(options.algorithm);
  MTMC_TRY(const auto settings, settings_of(options, *def));
  MTMC_TRY(const EpisodeOptions episode, episode_options(options));
  MTMC_TRY(lm::PolicyConfig config, lm::kept_policy_config(options.adapter.empty() ? options.model : options.adapter));
  if (!options.scores.empty()) {
    MTMC_TRY(config.scores, lm::score_mode(options.scores));
  }
  if (options.context > 0) config.context = options.context;
  if (options.prior >= 0) config.prior.weight = options.prior;
  if (options.voice > 0) config.prior.voice = options.voice;
  MTMC_TRY(Data data, read_data(options.data));
  config.view = data.view;
  MTMC_TRY(Checkpoint checkpoint, open_checkpoint(options.model));
  MTMC_TRY(Models models, load_models(options, checkpoint));
  checkpoint.tensors.clear();
  MTMC_TRY(const Json asked, asked_of(options, settings, config, checkpoint, data));
  MTMC_TRY(RunFolder folder, RunFolder::open(options.out, asked, processes.rank() == 0));

  lm::Model& policy = models.policy;
  const bool all = options.weights == "all";
  AdamW optimizer(all ? policy.base_parameters() : policy.adapter_parameters(),
                  settings.contains("weight-decay") ? settings.at("weight-decay") : 0);
  const Reader reader(checkpoint.tokenizer, checkpoint.config, config.context, config.prior);
  TreeDynamics dynamics(std::move(data.trees));
  std::vector<size_t> tasks;
  for (size_t i = 0; i < dynamics.tasks(); ++i) {
    const Tree& tree = dynamics.trees()[i];
    if (!is_held_out(tree.name, options.held_out) && !tree.places[0].actions.empty()) tasks.push_back(i);
  }
  if (tasks.empty())
    return Error{kSettingUp, "no task is left to learn from", fmt::format("{} in all", dynamics.tasks()),
                 "more tasks, or a smaller --held-out"};
  Lesson lesson{.model = policy,
                .optimizer = optimizer,
                .reference = models.reference,
                .reader = reader,
                .dynamics = dynamics,
                .tasks = std::move(tasks),
                .episode = episode,
                .processes = processes,
                .scores = config.scores,
                .settings = settings,
                .seed = static_cast<uint64_t>(options.seed),
                .updates = options.updates};
  MTMC_TRY(const auto algorithm, def->make(lesson));
  MTMC_TRY(const bool finished, Runner(options, lesson, *algorithm, folder, progress).run());
  if (processes.rank() != 0) return finished;
  const auto out = folder.path() / "policy";
  if (!all) {
    MTMC_RETURN_IF_ERROR(policy.save_adapter(out));
  } else {
    MTMC_TRY(const std::string tokenizer, tokenizer_text(options.model));
    MTMC_RETURN_IF_ERROR(policy.save(out, tokenizer));
  }
  MTMC_RETURN_IF_ERROR(lm::keep_policy_config(out, config));
  return finished;
}

}  // namespace mtmc::train
