// Behaviour cloning: episodes that follow the best ways through the tree and now and then leave them, so that the
// policy has seen how to go on from there, too. The loss is the cross-entropy to what the tree's best walks are worth
// behind each action, as a distribution: two actions whose ends measure about the same are about as good an answer.
#include <ATen/TensorOperators.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/parallel.h"
#include "learn/walks.h"
#include "train/algorithm.h"

namespace mtmc::train {
namespace {

// A decision, and how much each answer is wanted; in all 1.
struct Taught {
  lm::Prompt prompt;
  std::vector<double> wanted;
};

// softmax(values / temperature)
std::vector<double> distribution(std::vector<double> values, double temperature) {
  const double most = *std::max_element(values.begin(), values.end());
  double sum = 0;
  for (double& value : values) sum += value = std::exp((value - most) / temperature);
  for (double& value : values) value /= sum;
  return values;
}

size_t draw(const std::vector<double>& distribution, Rng& rng) {
  double left = rng.uniform();
  for (size_t i = 0; i + 1 < distribution.size(); ++i)
    if ((left -= distribution[i]) < 0) return i;
  return distribution.size() - 1;
}

class Clone final : public Algorithm {
 public:
  explicit Clone(Lesson& lesson) : lesson_(lesson) {}

  Result<Metrics> update(int64_t number) override {
    const auto episodes = static_cast<size_t>(lesson_.whole("episodes"));
    std::vector<Played> played(episodes);
    for (size_t i = 0; i < episodes; ++i) {
      played[i].number = static_cast<uint64_t>(number) * episodes + i;
      played[i].reads = static_cast<int64_t>(i) % lesson_.processes.count() == lesson_.processes.rank();
      played[i].walks = &walks_of(task_in_turn(lesson_, played[i].number));
    }
    in_parallel(episodes, [&](size_t i) { played[i].went = play(played[i]); });
    std::map<size_t, const Taught*> mine;  // by place
    size_t decisions = 0;
    for (const Played& one : played) {
      MTMC_RETURN_IF_ERROR(one.went);
      for (size_t i = 0; i < one.taught.size(); ++i) mine[decisions + i] = &one.taught[i];
      decisions += one.decisions;
    }
    const size_t size = static_cast<size_t>(lesson_.whole("minibatch"));
    const auto order = shuffled(decisions, seed_for(lesson_.seed, {3, static_cast<uint64_t>(number)}));
    double loss = 0, agreed = 0, norm = 0;
    for (size_t from = 0; from < decisions; from += size) {
      const size_t to = std::min(decisions, from + size);
      std::map<const lm::Prompt*, const Taught*> taught;
      std::vector<const lm::Prompt*> prompts;
      for (size_t i = from; i < to; ++i)
        if (const auto one = mine.find(order[i]); one != mine.end())
          taught[&one->second->prompt] = one->second, prompts.push_back(&one->second->prompt);
      for (const auto& part : lm::in_parts(lesson_.model, prompts))
        learn_from(part, taught, 1.0 / static_cast<double>(to - from), loss, agreed);
      MTMC_TRY(norm,
               lesson_.optimizer.step(lesson_.rate("lr", number), lesson_.setting("grad-norm"), lesson_.processes));
    }
    MTMC_TRY(const auto all, lesson_.processes.gather({loss, agreed}));
    loss = agreed = 0;
    for (const auto& one : all) loss += one[0], agreed += one[1];
    const double count = static_cast<double>(std::max<size_t>(1, decisions));
    return Metrics{{"loss", loss / count},
                   {"agreed", agreed / count},
                   {"norm", norm},
                   {"decisions", static_cast<double>(decisions)}};
  }

 private:
  struct Played {
    uint64_t number = 0;
    bool reads = false;
    const Walks* walks = nullptr;
    std::vector<Taught> taught;  // none where it is not read
    size_t decisions = 0;
    Status went = ok_status();
  };

  // All processes play all episodes, which costs next to nothing, and each reads the prompts of its share.
  Status play(Played& played) {
    const size_t task = task_in_turn(lesson_, played.number);
    const Walks& walks = *played.walks;
    const Tree& tree = lesson_.dynamics.trees()[task];
    Episode episode(lesson_.dynamics, lesson_.episode);
    Rng rng(seed_for(lesson_.seed, {1, played.number}));
    MTMC_RETURN_IF_ERROR(episode.reset(task, rng.next()));
    while (!episode.done()) {
      const auto place = static_cast<size_t>(&episode.place() - tree.places.data());
      const int left = lesson_.episode.steps - episode.taken();
      const std::vector<double> worth = walks.values(place, left, episode.best());
      std::vector<double> values;
      for (const size_t action : episode.offered()) values.push_back(worth[action]);
      values.push_back(worth.back());  // stop
      const std::vector<double> wanted = distribution(values, lesson_.setting("softness"));
      if (played.reads) {
        Taught& taught = played.taught.emplace_back();
        MTMC_TRY(taught.prompt, lesson_.reader.read(episode));
        taught.wanted = wanted;
      }
      ++played.decisions;
      const bool wanders = rng.uniform() < lesson_.setting("wander");
      const size_t chosen = wanders ? rng.below(episode.actions().size()) : draw(wanted, rng);
      MTMC_TRY([[maybe_unused]] const Stepped stepped, episode.step(chosen));
    }
    return ok_status();
  }

  const Walks& walks_of(size_t task) {
    const auto at = walks_.find(task);
    return at != walks_.end()
               ? at->second
               : walks_.emplace(task, Walks(lesson_.dynamics.trees()[task], lesson_.episode.steps)).first->second;
  }

  void learn_from(const std::vector<const lm::Prompt*>& prompts,
                  const std::map<const lm::Prompt*, const Taught*>& taught, double weight, double& loss,
                  double& agreed) {
    const std::vector<at::Tensor> scores = lm::score_all(lesson_.model, prompts, lesson_.scores);
    // An answer that is worth half a step less than the best one is as good.
    const double as_good = std::exp(-kStep / 2 / lesson_.setting("softness"));
    std::vector<at::Tensor> missed;
    for (size_t i = 0; i < prompts.size(); ++i) {
      const std::vector<double>& wanted = taught.at(prompts[i])->wanted;
      const lm::Categorical choice = lm::categorical(scores[i], 1);
      const at::Tensor weights = at::tensor(wanted, at::kFloat).to(scores[i].device());
      missed.push_back(-(weights * choice.log_probabilities).sum());
      const double most = *std::max_element(wanted.begin(), wanted.end());
      agreed += wanted[static_cast<size_t>(choice.greedy())] >= as_good * most;
    }
    const at::Tensor all = at::stack(missed).sum();
    (all * weight).backward();
    loss += all.item<double>();
  }

  Lesson& lesson_;
  std::map<size_t, Walks> walks_;
};

Result<std::unique_ptr<Algorithm>> make(Lesson& lesson) {
  for (const char* name : {"episodes", "minibatch"})
    if (lesson.whole(name) < 1)
      return Error{"setting up training", std::string("--") + name + " is too small", "", "1"};
  if (!(lesson.setting("softness") > 0))
    return Error{"setting up training", "--softness is too small", std::to_string(lesson.setting("softness")),
                 "more than 0"};
  return std::make_unique<Clone>(lesson);
}

}  // namespace

extern const AlgorithmDef clone_def;
const AlgorithmDef clone_def{"clone",
                             "imitate the best ways through the trees",
                             {{"lr", 2e-4, "falling to 0 linearly"},
                              {"weight-decay", 0.01, "of what is trained"},
                              {"episodes", 16, "of an update"},
                              {"minibatch", 32, "decisions for a step"},
                              {"softness", 0.05, "how much faster, as a logarithm, makes an answer e times as wanted"},
                              {"wander", 0.2, "how often an episode takes any action"},
                              {"grad-norm", 1, "the largest norm of a step's gradient"}},
                             make};

}  // namespace mtmc::train
