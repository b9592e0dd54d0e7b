// A training run in a folder, which goes on where it was left:
//   training.json      what was asked, with digests of model and data; a training goes on with the same only
//   state.safetensors  weights, moments and the number of updates done; replaced as a whole after each update
//   metrics.jsonl      a line an update; metrics.svg: the same as curves
//   policy/            what was learned so far: a LoRA adapter in PEFT's layout, or a model
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/progress.h"
#include "train/algorithm.h"

namespace mtmc::train {

struct RunOptions {
  std::string algorithm;
  std::map<std::string, double> settings;  // of the algorithm; what is not named has its default
  std::string model, adapter;              // a folder or GGUF file; an adapter to begin with, or ""
  std::vector<std::string> data;
  std::filesystem::path out;
  std::string device = "cpu", dtype = "fp32";
  std::string weights = "lora";  // what is trained: lora, or all
  lm::LoraShape lora = {};       // of a new adapter
  std::string reward = "shaped", reward_options;
  std::string scores;  // of actions: sum, token or word; empty: as what it begins from was trained
  double prior = -1;   // of actions, see lm::add_prior; negative: as what it begins from was trained
  double voice = 0;    // of the model beside it; 0: as what it begins from was trained
  int64_t updates = 100, steps = 8, seed = 0;
  int64_t context = 0;  // tokens of a prompt; 0: as what it begins from was trained
  double held_out = 0.1;
  // When to stop for now, without a trace in the result.
  int64_t until = 0;  // updates done; 0: all
  double budget = 0;  // seconds after which no further update is begun; 0: none
};

// An Error for options that make no sense, as far as that is known without model and data.
Status check_run(const RunOptions& options);

// Trains until all updates are done (true) or for as long as it may (false). `progress`: null in all processes but the
// first.
Result<bool> run_training(const RunOptions& options, Processes& processes, Progress* progress);

}  // namespace mtmc::train
