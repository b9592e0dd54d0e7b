// A language model that says what a test has it say, without a network.
#pragma once
#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/json.h"
#include "llm/client.h"

namespace mtmc::testing {

struct Said {
  Said(std::string says, std::string ends = "stop") : text(std::move(says)), finish(std::move(ends)) {}
  Said(const char* says) : text(says) {}
  std::string text, finish = "stop";
};

// Says its answers in turn, and refuses the key when it has no more to say. An answer counts as 1000 tokens in and 500
// out, at 1 and 2 USD a million. Must outlive the clients made of its parts.
struct ScriptedModel {
  template <typename... Words>
  explicit ScriptedModel(Words... words) : says{Said(std::move(words))...} {}
  ScriptedModel(const ScriptedModel&) = delete;

  ClientParts parts() {
    ClientParts parts{.model = find_model("local", "http://localhost:1/v1", "/nowhere").value(), .key = {}};
    parts.model.price = Price{1, 2};
    parts.transport = [this](const HttpRequest& request, const std::function<void(std::string_view)>& on_piece) {
      requests.push_back(Json::parse(request.body));
      asked.push_back(requests.back().at("messages").back().at("content"));
      if (says.empty()) return HttpResponse{.status = 401, .body = "{}"};
      const Json choice = {{"message", {{"content", says.front().text}}}, {"finish_reason", says.front().finish}};
      says.pop_front();
      on_piece(Json{{"choices", {choice}}, {"usage", {{"prompt_tokens", 1000}, {"completion_tokens", 500}}}}.dump());
      return HttpResponse{.status = 200};
    };
    return parts;
  }

  std::deque<Said> says;
  std::vector<Json> requests;      // bodies
  std::vector<std::string> asked;  // the last message of each
};

}  // namespace mtmc::testing
