#include "learn/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "base/text.h"

namespace mtmc {
namespace {

constexpr const char* kReading = "reading a dataset";
constexpr double kFaster = 1.01;  // times as fast: less is luck
constexpr std::pair<Standing, const char*> kStandings[] = {
    {Standing::no_build, "no-build"}, {Standing::wrong, "wrong"}, {Standing::right, "right"}};

Json json_of(const Place& place, const std::vector<std::vector<int>>& outcomes) {
  Json actions = Json::array();
  for (size_t i = 0; i < place.actions.size(); ++i) {
    const PlaceAction& action = place.actions[i];
    actions.push_back({action.text, action.action, action.share, outcomes[i]});
  }
  const auto* standing = std::find_if(std::begin(kStandings), std::end(kStandings),
                                      [&](const auto& one) { return one.first == place.standing; });
  return {{"state", place.state}, {"code", place.code}, {"outcome", place.outcome},  {"standing", standing->second},
          {"time", place.time},   {"actions", actions}, {"left_out", place.left_out}};
}

Place place_of(const Json& json, std::vector<std::vector<int>>& outcomes) {
  Place place;
  place.state = json.at("state"), place.code = json.at("code"), place.outcome = json.at("outcome");
  place.time = json.at("time"), place.left_out = json.at("left_out");
  for (const auto& [standing, word] : kStandings)
    if (json.at("standing") == word) place.standing = standing;
  for (const Json& action : json.at("actions")) {
    place.actions.push_back({action.at(0), action.at(1), action.at(2)});
    outcomes.push_back(action.at(3).get<std::vector<int>>());
  }
  return place;
}

// Every result is a place, and the walk begins at a right one.
bool holds_together(const Tree& tree) {
  if (tree.places.empty() || tree.places[0].standing != Standing::right) return false;
  for (const auto& of_place : tree.outcomes)
    for (const auto& of_action : of_place)
      for (const int to : of_action)
        if (to != kNoCode && (to < 0 || to >= static_cast<int>(tree.places.size()))) return false;
  return true;
}

// What can be learned of one tree: for each place the least time that known steps reach, and how many walks there are.
class Walks {
 public:
  Walks(const Tree& tree, int steps) : tree_(tree), steps_(steps) {
    for (const Place& place : tree.places) best_.push_back({place.standing == Standing::right ? place.time : 1e300, 0});
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t p = 0; p < best_.size(); ++p)
        for_each_right(p, [&](size_t, int to) {
          if (best_[to].time < best_[p].time ||
              (best_[to].time == best_[p].time && best_[to].steps + 1 < best_[p].steps))
            best_[p] = {best_[to].time, best_[to].steps + 1}, changed = true;
        });
    }
  }

  double count() const {
    std::vector<double> ways(tree_.places.size(), 0);
    ways[0] = 1;
    double total = 0;
    for (int step = 0; step < steps_; ++step) {
      std::vector<double> next(ways.size(), 0);
      for (size_t p = 0; p < ways.size(); ++p)
        if (ways[p] > 0) for_each_right(p, [&](size_t, int to) { next[to] += ways[p]; });
      for (const double one : next) total += one;
      ways = std::move(next);
    }
    return total;
  }

  // The types that begin a shortest way to the fastest state; none where the place is it.
  std::set<std::string> best_types(size_t p) const {
    std::set<std::string> types;
    if (tree_.places[p].time < kFaster * best_[p].time) return types;
    for_each_right(p, [&](size_t action, int to) {
      if (best_[to].time == best_[p].time && best_[to].steps + 1 == best_[p].steps) types.insert(type_of(p, action));
    });
    return types;
  }

  std::string type_of(size_t place, size_t action) const {
    const std::string& text = tree_.places[place].actions[action].action;
    return text.substr(0, text.find_first_of(": "));
  }

 private:
  template <typename Visit>
  void for_each_right(size_t place, Visit visit) const {
    for (size_t a = 0; a < tree_.outcomes[place].size(); ++a) {
      const std::set<int> results(tree_.outcomes[place][a].begin(), tree_.outcomes[place][a].end());
      for (const int to : results)
        if (to != kNoCode && tree_.places[to].standing == Standing::right) visit(a, to);
    }
  }

  const Tree& tree_;
  int steps_;
  struct Best {
    double time;
    int steps;  // that lead there
  };
  std::vector<Best> best_;
};

}  // namespace

Status write_trees(const std::filesystem::path& file, const std::vector<Tree>& trees) {
  std::string text = Json{{"format", kDatasetFormat}, {"trees", trees.size()}}.dump() + "\n";
  for (const Tree& tree : trees) {
    Json places = Json::array();
    for (size_t p = 0; p < tree.places.size(); ++p) places.push_back(json_of(tree.places[p], tree.outcomes[p]));
    text +=
        Json{{"name", tree.name}, {"hardware", tree.hardware}, {"description", tree.description}, {"places", places}}
            .dump() +
        "\n";
  }
  return write_file(file, text);
}

Result<std::vector<Tree>> read_trees(const std::filesystem::path& file) {
  MTMC_TRY(const std::string text, read_file(file));
  const std::vector<std::string> lines = split(trim(text), '\n');
  const Json head = Json::parse(lines[0], nullptr, false);
  if (!head.is_object() || head.value("format", "") != kDatasetFormat)
    return Error{kReading, "another format", file.string() + ": " + lines[0].substr(0, 60), kDatasetFormat};
  if (head.value("trees", size_t{0}) != lines.size() - 1)
    return Error{kReading, "it was cut off", fmt::format("{} trees", lines.size() - 1), head.at("trees").dump()};
  std::vector<Tree> trees;
  for (size_t i = 1; i < lines.size(); ++i) {
    const Error broken{kReading, "not a tree", fmt::format("{}, line {}", file.string(), i + 1),
                       "what `mtmc dataset export` writes"};
    try {
      const Json json = Json::parse(lines[i]);
      Tree tree{json.at("name"), json.at("hardware"), json.at("description"), {}, {}};
      for (const Json& place : json.at("places")) tree.places.push_back(place_of(place, tree.outcomes.emplace_back()));
      if (!holds_together(tree)) return broken;
      trees.push_back(std::move(tree));
    } catch (const Json::exception&) {
      return broken;
    }
  }
  return trees;
}

DatasetFacts facts_of(const std::vector<Tree>& trees, int steps) {
  DatasetFacts facts;
  std::vector<size_t> sizes;
  for (const Tree& tree : trees) {
    const Walks walks(tree, steps);
    ++facts.tasks;
    facts.states += tree.places.size();
    sizes.push_back(tree.places.size());
    facts.trajectories += walks.count();
    for (size_t p = 0; p < tree.places.size(); ++p) {
      (tree.places[p].standing == Standing::right ? facts.right : facts.refused) += 1;
      std::set<std::string> offered;
      for (size_t a = 0; a < tree.places[p].actions.size(); ++a) {
        const std::set<int> results(tree.outcomes[p][a].begin(), tree.outcomes[p][a].end());
        const std::string type = walks.type_of(p, a);
        offered.insert(type);
        facts.transitions += results.size();
        facts.no_code += results.contains(kNoCode);
        facts.types[type].tried += results.size();
      }
      for (const std::string& type : offered) ++facts.types[type].offered;
      if (tree.places[p].standing == Standing::right)
        for (const std::string& type : walks.best_types(p)) ++facts.types[type].best;
    }
  }
  std::sort(sizes.begin(), sizes.end());
  if (!sizes.empty()) facts.median_states = sizes[sizes.size() / 2];
  return facts;
}

}  // namespace mtmc
