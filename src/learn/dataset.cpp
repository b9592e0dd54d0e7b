#include "learn/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "learn/walks.h"

namespace mtmc {
namespace {

constexpr const char* kReading = "reading a dataset";
constexpr std::pair<Standing, const char*> kStandings[] = {
    {Standing::no_build, "no-build"}, {Standing::wrong, "wrong"}, {Standing::right, "right"}};

// As it is where it is printable.
std::string quoted(std::string text) {
  const bool printable = std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  return printable ? std::move(text) : "bytes that are no text";
}

// Four digits behind the point are all that such estimates are good for.
double rounded(double estimate) { return std::round(estimate * 1e4) / 1e4; }

Json json_of(const Place& place, const std::vector<std::vector<int>>& outcomes) {
  Json actions = Json::array();
  for (size_t i = 0; i < place.actions.size(); ++i) {
    const PlaceAction& action = place.actions[i];
    actions.push_back({action.text, action.action, rounded(action.share), rounded(action.gain), outcomes[i]});
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
    place.actions.push_back({action.at(0), action.at(1), action.at(2), action.at(3)});
    outcomes.push_back(action.at(4).get<std::vector<int>>());
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

std::string type_of(const PlaceAction& action) { return action.action.substr(0, action.action.find_first_of(": ")); }

std::set<std::string> best_types(const Tree& tree, const Walks& walks, size_t place) {
  std::set<std::string> types;
  for (const size_t action : walks.best_actions(place, walks.steps()))
    types.insert(type_of(tree.places[place].actions[action]));
  return types;
}

}  // namespace

Status write_trees(const std::filesystem::path& file, const std::vector<Tree>& trees) {
  std::string text = Json{{"format", kDatasetFormat}, {"trees", trees.size()}}.dump() + "\n";
  for (const Tree& tree : trees) {
    Json places = Json::array();
    for (size_t p = 0; p < tree.places.size(); ++p) places.push_back(json_of(tree.places[p], tree.outcomes[p]));
    text += Json{{"name", tree.name},
                 {"hardware", tree.hardware},
                 {"description", tree.description},
                 {"view", tree.view},
                 {"places", places}}
                .dump() +
            "\n";
  }
  return write_file(file, text);
}

Result<std::vector<Tree>> read_trees(const std::filesystem::path& file) {
  MTMC_TRY(const std::string text, read_file(file));
  for (const auto& [begins, unpacks] : {std::pair("\3757zXZ", "xz"), std::pair("\37\213", "gzip")})
    if (text.starts_with(begins))
      return Error{kReading, "it is packed", file.string(),
                   fmt::format("it unpacked: {} -dk {}", unpacks, file.string())};
  const std::vector<std::string> lines = split(trim(text), '\n');
  const Json head = Json::parse(lines[0], nullptr, false);
  if (!head.is_object() || head.value("format", "") != kDatasetFormat)
    return Error{kReading, "another format", file.string() + ": " + quoted(lines[0].substr(0, 60)), kDatasetFormat};
  if (head.value("trees", size_t{0}) != lines.size() - 1)
    return Error{kReading, "it was cut off", fmt::format("{} trees", lines.size() - 1), head.at("trees").dump()};
  std::vector<Tree> trees;
  for (size_t i = 1; i < lines.size(); ++i) {
    const Error broken{kReading, "not a tree", fmt::format("{}, line {}", file.string(), i + 1),
                       "what `mtmc dataset export` writes"};
    try {
      const Json json = Json::parse(lines[i]);
      Tree tree{json.at("name"), json.at("hardware"), json.at("description"), {}, {}, json.at("view")};
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
        const std::string type = type_of(tree.places[p].actions[a]);
        offered.insert(type);
        facts.transitions += results.size();
        facts.no_code += results.contains(kNoCode);
        facts.types[type].tried += results.size();
      }
      for (const std::string& type : offered) ++facts.types[type].offered;
      if (tree.places[p].standing == Standing::right)
        for (const std::string& type : best_types(tree, walks, p)) ++facts.types[type].best;
    }
  }
  std::sort(sizes.begin(), sizes.end());
  if (!sizes.empty()) facts.median_states = sizes[sizes.size() / 2];
  return facts;
}

}  // namespace mtmc
