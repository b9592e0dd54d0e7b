#include "eval/measurement.h"

#include <limits>
#include <nlohmann/json.hpp>

namespace mtmc {

namespace {

// A NaN or an infinity of a norm comes as null (JSON has neither): both are beyond any limit.
double number(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end()) return 0;
  return found->is_number() ? found->get<double>() : std::numeric_limits<double>::infinity();
}

Elsewhere elsewhere_from(const Json& json) {
  Elsewhere e;
  e.numel = json.at("numel"), e.error = number(json, "error"), e.max_error = number(json, "max_error");
  e.max_eager = number(json, "max_eager"), e.scale = number(json, "scale");
  e.eager_error = number(json, "eager_error"), e.eager_max_error = number(json, "eager_max_error");
  return e;
}

}  // namespace

Fractions fractions_from(const Json& json) {
  Fractions result;
  for (const auto& [name, counts] : json.items()) result[name] = {counts.at(0), counts.at(1)};
  return result;
}

Tail tail_from(const Json& counts) {
  Tail tail;
  tail.of = counts.at(0);
  for (size_t i = 0; i < Tail::kSteps; ++i) tail.beyond[i] = counts.at(i + 1);
  return tail;
}

Measurement measurement_from(const Json& json) {
  Measurement m;
  m.output = json.value("output", "");
  m.mismatch = json.value("mismatch", ""), m.detail = json.value("detail", "");
  if (!m.mismatch.empty()) return m;
  m.dtype = json.at("dtype"), m.floating = json.at("kind") == "float";
  m.exact = json.at("exact"), m.poison = json.at("poison");
  if (json.contains("fractions")) m.fractions = fractions_from(json["fractions"]);
  m.official_bad = json.at("official_bad"), m.legacy_bad = json.at("legacy_bad");
  if (m.floating) {
    if (json.at("error").is_number()) m.error = json.at("error").get<double>();
    m.norm_truth = number(json, "norm_truth"), m.max_error = number(json, "max_error");
    m.max_truth = number(json, "max_truth");
    m.off = number(json, "off");
    const Json& tails = json.at("tails");
    if (tails.contains("elements")) m.elements = tail_from(tails["elements"]);
    if (tails.contains("rows")) m.rows = tail_from(tails["rows"]);
    m.block_error = number(json, "block_error");
    if (json.contains("elsewhere")) m.compared = json.at("compared"), m.elsewhere = elsewhere_from(json["elsewhere"]);
    m.nonfinite = json.at("nonfinite"), m.mismatched = json.at("mismatched");
  } else {
    m.wrong = json.at("wrong"), m.gap = number(json, "gap");
    m.distance = number(json, "distance"), m.repeated = json.at("repeated");
    m.astray = json.value("astray", int64_t{0});
  }
  return m;
}

std::vector<Measurement> measurements_from(const Json& list) {
  std::vector<Measurement> all;
  for (const Json& json : list) all.push_back(measurement_from(json));
  return all;
}

}  // namespace mtmc
