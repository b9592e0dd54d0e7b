// An island of a world's search, without a strategy around it.
#pragma once
#include <memory>

#include "search/variation.h"
#include "search/world.h"

namespace mtmc::testing {

struct Islet {
  explicit Islet(Coder* coder = nullptr, Judge* judge = nullptr)
      : environment({.task = world.request.task,
                     .task_hash = "t",
                     .description = "",
                     .evaluator = "e",
                     .baselines = {},
                     .program = world.program,
                     .target = world.target,
                     .hardware = world.hardware,
                     .shell = world.request.shell,
                     .limits = world.request.limits,
                     .run = world.store->begin_run({.task = world.request.task, .hardware = world.hardware}).value()},
                    judge ? *judge : world.judge, *world.store, coder ? *coder : world.coder, *policy, world.recorder),
        shared{environment, *environment.start().value(), Rng(1)} {}

  Status vary(const char* name, SearchNode& parent) { return find_variation(name)->vary(island, parent); }
  bool can(const char* name, SearchNode& parent) { return find_variation(name)->can(island, parent); }

  World world{"null", testing::branches()};
  std::unique_ptr<Policy> policy =
      find_policy("greedy")->make({world.hardware, world.target, world.request.paper_only, 1}).value();
  Environment environment;
  Archipelago shared;
  Island island{shared};
};

}  // namespace mtmc::testing
