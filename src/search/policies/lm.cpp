// A small causal language model puts the actions in order by their probability behind a prompt (docs/LM.md). The model
// runs in a process of its own, mtmc-lm.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/hash.h"
#include "base/json.h"
#include "base/process.h"
#include "search/gains.h"
#include "search/policy.h"
#include "search/prompt.h"

namespace mtmc {
namespace {

namespace fs = std::filesystem;

constexpr double kLoading = 300, kScoring = 300;  // seconds, the most
constexpr size_t kForAction = 96;                 // tokens that are left for the action behind it

fs::path programs() { return fs::read_symlink("/proc/self/exe").parent_path(); }

// A file or folder; or, where there is none, the name of a policy that the checkout ships: programs are built in
// build/NAME, two folders below it.
Result<Weights> weights_of(const std::string& word) {
  if (!word.empty() && word.find('/') == word.npos && !fs::exists(word))
    if (const fs::path shipped = programs().parent_path().parent_path() / "policies" / word; fs::is_directory(shipped))
      return find_weights(shipped);
  return find_weights(word);
}

// A model's process: a line of JSON out, one back.
class Scorer {
 public:
  static Result<Scorer> start(const std::string& model, const std::string& adapter) {
    const fs::path program = programs() / "mtmc-lm";
    if (!fs::exists(program))
      return Error{"starting the language model", "mtmc-lm is not built", "'" + program.string() + "'",
                   "./mtmc lm --help, which builds it or says what is missing"};
    std::vector<std::string> argv = {
        "bash", "-c", "exec \"$@\" <&3 >&4", "bash", program.string(), "score", "--dtype", "auto", "--model", model};
    if (!adapter.empty()) argv.insert(argv.end(), {"--adapter", adapter});
    MTMC_TRY(LineProcess process, LineProcess::start({.argv = argv}));
    Scorer scorer(std::move(process));
    MTMC_TRY(const Json ready, scorer.reply(kLoading));
    scorer.context_ = ready.at("context");
    scorer.shown_ = ready.at("policy").at("context");
    scorer.program_ = ready.at("policy").value("view", "") == "program";
    scorer.prior_ = ready.at("policy").value("prior", 0.0);
    return scorer;
  }

  // Tokens that the model takes, and of them those of a prompt; whether it reads Programs, and is told what the cost
  // model expects, and how much that weighs: as it was trained.
  size_t context() const { return context_; }
  size_t shown() const { return shown_; }
  bool program() const { return program_; }
  bool expects() const { return prior_ > 0; }
  double prior() const { return prior_; }
  Result<Json> ask(const Json& request) {
    MTMC_RETURN_IF_ERROR(process_.send(request.dump(-1, ' ', false, Json::error_handler_t::replace)));
    return reply(kScoring);
  }

 private:
  explicit Scorer(LineProcess process) : process_(std::move(process)) {}
  Result<Json> reply(double seconds) {
    const Result<std::string> line = process_.receive(seconds);
    // What it says of its own end is on standard error.
    if (!line.ok()) return Error{"asking the language model", "mtmc-lm gave no answer", line.error().wrong, ""};
    Json json = Json::parse(*line, nullptr, false);
    MTMC_CHECK(json.is_object(), "mtmc-lm answered " + *line);
    if (const auto error = json.find("error"); error != json.end())
      return Error{error->at("doing"), error->at("wrong"), error->at("got"), error->at("wanted")};
    return json;
  }

  LineProcess process_;
  size_t context_ = 0, shown_ = 0;
  bool program_ = false;
  double prior_ = 0;
};

class LmPolicy final : public Policy {
 public:
  LmPolicy(const PolicyContext& context, Weights weights, Scorer scorer)
      : context_{context.hardware, context.target, context.paper_only},
        forecaster_(context_),
        weights_(std::move(weights)),
        scorer_(std::move(scorer)) {
    options_.program = scorer_.program();
    options_.context = std::min(scorer_.shown(), scorer_.context() - std::min(scorer_.context() / 2, kForAction));
    // A model that has died is told of by the question that follows.
    options_.count = [this](std::string_view text) {
      const Result<Json> counted = scorer_.ask({{"count", text}});
      return counted.ok() ? counted->at("tokens").get<size_t>() : quarter_of_characters(text);
    };
  }
  std::string name() const override { return "lm"; }
  std::optional<Weights> weights() const override { return weights_; }

  Result<Ranking> rank(const Observation& observation, const std::vector<Proposal>& proposals) override {
    MTMC_TRY(const PolicyView view, policy_view(observation, proposals, context_, options_));
    Json asked = {{"prompt", view.prompt}, {"actions", view.actions}};
    if (scorer_.expects()) asked["gains"] = expected(observation, proposals, view.offer.kept);
    MTMC_TRY(const Json scored, scorer_.ask(asked));
    const auto scores = scored.at("scores").get<std::vector<double>>();
    std::vector<size_t> order(scores.size());
    std::iota(order.begin(), order.end(), size_t{0});
    // It has learned when a walk ends; a search that measures asks for more.
    const double later = std::max(0.0, kStopsWalk - observation.worthwhile) * scorer_.prior();
    const auto place = [&](size_t i) { return scores[i] - (proposals[view.offer.kept[i]].stop() ? later : 0); };
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return place(a) > place(b); });
    for (size_t& at : order) at = view.offer.kept[at];
    std::vector<double> gains;
    if (scorer_.prior() > 0) {
      const std::vector<double> kept = gains_of_scores(scores, scorer_.prior());
      gains.assign(proposals.size(), 0);
      for (size_t i = 0; i < kept.size(); ++i) gains[view.offer.kept[i]] = kept[i];
    }
    return Ranking(std::move(order), std::move(gains));
  }

  std::optional<Prospect> prospect(const Program& program) override {
    return scorer_.expects() ? std::optional(forecaster_.prospect(program)) : std::nullopt;
  }

 private:
  // Of a state without a Program nothing is expected.
  std::vector<double> expected(const Observation& observation, const std::vector<Proposal>& proposals,
                               const std::vector<size_t>& kept) {
    std::vector<Proposal> offered;
    for (size_t i : kept) offered.push_back(proposals[i]);
    std::vector<double> gains(offered.size(), 0);
    if (observation.program != nullptr) gains = expected_gains(*observation.program, offered, context_, forecaster_);
    for (size_t i = 0; i < offered.size(); ++i)
      if (offered[i].stop()) gains[i] = kStopsWalk;  // as it learned
    return gains;
  }

  ActionContext context_;
  Forecaster forecaster_;
  Weights weights_;
  Scorer scorer_;
  PromptOptions options_;
};

}  // namespace

extern const PolicyDef lm_def;
const PolicyDef lm_def{"lm", "a language model's likeliest action, from a prompt that it reads", "MODEL[+ADAPTER]",
                       [](const PolicyContext& context) -> Result<std::unique_ptr<Policy>> {
                         // A model's own name may hold a plus.
                         const std::string& word = context.argument;
                         const size_t plus = fs::exists(word) ? word.npos : word.find('+');
                         MTMC_TRY(Weights weights, weights_of(word.substr(0, plus)));
                         const std::string model = weights.path.string();
                         std::string adapter;
                         if (plus != word.npos) {
                           MTMC_TRY(const Weights more, weights_of(word.substr(plus + 1)));
                           adapter = more.path.string();
                           weights = {model + "+" + adapter, sha256(weights.digest + more.digest)};
                         }
                         MTMC_TRY(Scorer scorer, Scorer::start(model, adapter));
                         return std::make_unique<LmPolicy>(context, std::move(weights), std::move(scorer));
                       }};

}  // namespace mtmc
