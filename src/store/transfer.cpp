#include "store/transfer.h"

#include <map>
#include <nlohmann/json.hpp>

namespace mtmc {
namespace {

Json to_json(const NodeRecord& node) {
  const auto verdict = [](const std::optional<Verdict>& one) { return one ? to_json(*one) : Json(); };
  return {{"id", node.id},
          {"parent", node.parent},
          {"partner", node.partner},
          {"step", node.step},
          {"action", node.action},
          {"rendered", node.rendered},
          {"rewrites", node.rewrites},
          {"coder", node.coder},
          {"program", node.program},
          {"state_hash", node.state_hash},
          {"code", node.code},
          {"failure", node.failure},
          {"note", node.note},
          {"screen", verdict(node.screen)},
          {"certify", verdict(node.certify)}};
}

Result<std::optional<Verdict>> verdict_of(const Json& json) {
  if (json.is_null()) return std::optional<Verdict>();
  MTMC_TRY(Verdict verdict, verdict_from_json(json));
  return std::optional(std::move(verdict));
}

// `numbers`: of the attempts before it, there and here.
Result<NodeRecord> node_from_json(const Json& json, RunId run, const std::map<NodeId, NodeId>& numbers) {
  NodeRecord node;
  node.run = run;
  node.parent = numbers.at(json.at("parent")), node.partner = numbers.at(json.at("partner"));
  node.step = json.at("step"), node.action = json.at("action"), node.rendered = json.at("rendered");
  node.rewrites = json.at("rewrites"), node.coder = json.at("coder"), node.program = json.at("program");
  node.state_hash = json.at("state_hash"), node.code = json.at("code");
  node.failure = json.at("failure"), node.note = json.at("note");
  MTMC_TRY(node.screen, verdict_of(json.at("screen")));
  MTMC_TRY(node.certify, verdict_of(json.at("certify")));
  return node;
}

Result<RunId> add(Store& store, const Json& json) {
  RunRecord run;
  run.task = {json.at("task").at("name"), json.at("task").at("json")};
  run.source = json.at("source"), run.task_hash = json.at("task_hash"), run.target = json.at("target");
  MTMC_TRY(run.hardware, hardware_from_json(json.at("hardware")));
  run.options = json.at("options"), run.shell = json.at("shell"), run.seed = json.at("seed");
  run.evaluator = json.at("evaluator");
  MTMC_TRY(const RunId id, store.begin_run(run));
  std::map<NodeId, NodeId> numbers = {{kNoNode, kNoNode}};
  for (const Json& one : json.at("nodes")) {
    MTMC_TRY(const NodeRecord node, node_from_json(one, id, numbers));
    MTMC_TRY(numbers[one.at("id")], store.add_node(node));
  }
  std::optional<Conclusion> conclusion;
  if (const Json& told = json.at("conclusion"); !told.is_null())
    conclusion = Conclusion{told.at("answer"), numbers.at(told.at("node"))};
  MTMC_RETURN_IF_ERROR(store.finish_run(id, json.at("seconds"), conclusion));
  return id;
}

}  // namespace

Result<Json> run_to_json(Store& store, RunId id) {
  MTMC_TRY(const RunRecord run, store.run(id));
  MTMC_TRY(const std::vector<NodeRecord> nodes, store.nodes(id));
  Json json = {{"task", {{"name", run.task.name}, {"json", run.task.json}}},
               {"source", run.source},
               {"task_hash", run.task_hash},
               {"target", run.target},
               {"hardware", to_json(run.hardware)},
               {"options", run.options},
               {"shell", run.shell},
               {"seed", run.seed},
               {"evaluator", run.evaluator},
               {"seconds", run.seconds},
               {"conclusion", nullptr},
               {"nodes", Json::array()}};
  if (run.conclusion) json["conclusion"] = {{"answer", run.conclusion->answer}, {"node", run.conclusion->node}};
  for (const NodeRecord& node : nodes) json["nodes"].push_back(to_json(node));
  return json;
}

Result<RunId> add_run(Store& store, const Json& json) try {
  return add(store, json);
} catch (const std::exception& fault) {  // of Json, and of numbers that no attempt has
  return Error{"adding a run of another store", fault.what(), json.dump().substr(0, 200), "what run_to_json writes"};
}

}  // namespace mtmc
