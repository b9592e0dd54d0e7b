// A run and a node to put into stores under test.
#pragma once
#include <string>

#include "ir/hardware.h"
#include "store/store.h"

namespace mtmc {

inline RunRecord sample_run(const std::string& options = R"({"steps":8})") {
  RunRecord run;
  run.task = {"mlp", R"({"name":"mlp","attr":"Model"})"};
  run.source = "class Model: ...\n";
  run.task_hash = hash_task(run.task, run.source);
  run.target = "cpu";
  run.hardware = null_hardware();
  run.options = options;
  run.shell = "{}";
  run.seed = 0xfedcba9876543210;
  run.evaluator = "1";
  return run;
}

inline Verdict sample_verdict(double time_ms, Tier tier = Tier::screen) {
  Verdict verdict;
  verdict.tier = tier;
  verdict.outcome = Outcome::certified;
  verdict.stage = "timing";
  verdict.accuracy_class = "fp32";
  verdict.time_ms = time_ms;
  verdict.times["candidate"] = {{time_ms, time_ms * 1.5, time_ms}, time_ms, 0};
  verdict.speedup = {{"eager", exactly(6 / time_ms)}};
  verdict.sandbox = "none";
  verdict.evaluator = "1";
  return verdict;
}

inline NodeRecord sample_node(RunId run, NodeId parent, int step, const std::string& code) {
  NodeRecord node;
  node.run = run, node.parent = parent, node.step = step;
  if (parent != kNoNode) node.action = "fuse %" + std::to_string(step);
  node.rendered = node.action;
  node.coder = parent == kNoNode ? "start" : "builtin";
  node.program = "program of " + code;
  node.state_hash = "state of " + code;
  node.code = code;
  node.screen = sample_verdict(4);
  return node;
}

}  // namespace mtmc
