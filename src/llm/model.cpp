#include "llm/model.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "base/variables.h"
#include "llm_data.h"

namespace mtmc {
namespace {

constexpr const char* kFindingModel = "finding the language model";
constexpr const char* kAnyKey = "MTMC_LLM_KEY";
constexpr const char* kNamesTable = "MTMC_MODELS";
constexpr const char* kRow = R"([{"name": "NAME", "url": "https://HOST/v1", "input": 1.0, "output": 2.0}])";

// In capitals, as such names are, and as keys are not: the name is printed.
bool is_variable(const std::string& name) {
  const auto letter = [](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

// Rows by name; the later table's fields win.
Status merge(Json& rows, const Json& table, const std::string& where) {
  const Error wrong{"reading " + where, "not a table of models", "", kRow};
  if (!table.is_array()) return wrong;
  for (const Json& row : table) {
    if (!row.is_object() || !row.contains("name") || !row["name"].is_string()) return wrong;
    for (const auto& [field, value] : row.items()) {
      const bool number = field == "input" || field == "output" || field == "most", key = field == "key";
      const bool right = number ? value.is_number() && value >= 0
                         : key  ? value.is_string() && is_variable(value.get<std::string>())
                                : value.is_string();
      if (right) continue;
      // Not what stands there: it may be a key in the wrong place.
      return Error{"reading " + where, "the field " + field + " of " + row["name"].get<std::string>() + " is wrong",
                   value.type_name(),
                   number ? "a number, at least 0"
                   : key  ? "the name of the environment variable that holds the key, in capitals: OPENAI_API_KEY"
                          : "a text"};
    }
    Json* known = nullptr;
    for (Json& other : rows)
      if (other["name"] == row["name"]) known = &other;
    known != nullptr ? known->update(row) : rows.push_back(row);
  }
  return ok_status();
}

Result<Json> all_rows(const std::filesystem::path& user_table) {
  Json rows = Json::array();
  for (const auto& [stem, text] : kModelTables) MTMC_RETURN_IF_ERROR(merge(rows, Json::parse(text), std::string(stem)));
  if (!std::filesystem::exists(user_table)) {
    if (variable(kNamesTable).empty() || user_table != variable(kNamesTable)) return rows;
    return Error{"reading the user's models", "there is no such file", "MTMC_MODELS=" + user_table.string(),
                 std::string("a file with ") + kRow};
  }
  MTMC_TRY(const std::string text, read_file(user_table));
  MTMC_RETURN_IF_ERROR(merge(rows, Json::parse(text, nullptr, false), user_table.string()));
  return rows;
}

Result<ModelFacts> facts_of(const Json& row) {
  ModelFacts facts;
  facts.name = row["name"];
  facts.model = row.value("model", facts.name);
  facts.url = row.value("url", "");
  facts.needs_key = row.contains("key");
  facts.key = row.value("key", kAnyKey);
  facts.limit = row.value("limit", facts.limit);
  facts.most = row.value("most", 0);
  const std::string protocol = row.value("protocol", "chat");
  if (protocol != "chat" && protocol != "messages")
    return Error{kFindingModel, "no protocol is called that", "'" + protocol + "'", "chat or messages"};
  facts.protocol = protocol == "chat" ? Protocol::chat : Protocol::messages;
  if (row.contains("input") && row.contains("output")) facts.price = Price{row["input"], row["output"]};
  return facts;
}

}  // namespace

std::filesystem::path user_models_path() {
  if (std::string named = variable(kNamesTable); !named.empty()) return named;
  return std::filesystem::path(variable("XDG_CONFIG_HOME", variable("HOME") + "/.config")) / "mtmc/models.json";
}

Result<ModelFacts> find_model(const std::string& name, const std::string& base_url,
                              const std::filesystem::path& user_table) {
  MTMC_TRY(const Json rows, all_rows(user_table));
  std::vector<std::string> names;
  ModelFacts facts{.name = name, .model = name, .url = "", .key = kAnyKey, .needs_key = false, .price = {}};
  bool found = false;
  for (const Json& row : rows) {
    names.push_back(row["name"]);
    if (name.empty() || (row["name"] != name && row.value("model", "") != name)) continue;
    MTMC_TRY(facts, facts_of(row));
    found = true;
    break;
  }
  if (!found && (base_url.empty() || name.empty()))
    return Error{kFindingModel, name.empty() ? "none is named" : "nobody knows it",
                 name.empty() ? "" : "'" + name + "'",
                 "--model " + join(names, "|") + ", or any other with --base-url URL"};
  if (!base_url.empty()) facts.url = base_url;
  while (facts.url.ends_with('/')) facts.url.pop_back();
  if (!facts.url.starts_with("https://") && !facts.url.starts_with("http://"))
    return Error{kFindingModel, "its address is none of the web", "'" + facts.url + "'",
                 "--base-url http://localhost:8000/v1"};
  return facts;
}

std::set<std::string> key_variables(const std::filesystem::path& user_table) {
  std::set<std::string> variables = {kAnyKey};
  const auto rows = all_rows(user_table);  // what is wrong with the table is told by find_model
  if (!rows.ok()) return user_table.empty() ? variables : key_variables("");
  for (const Json& row : *rows)
    if (row.contains("key")) variables.insert(row["key"]);
  return variables;
}

}  // namespace mtmc
