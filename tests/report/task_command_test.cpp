#include "report/task_command.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace mtmc {
namespace {

std::string command_of(const char* task) {
  const auto [target, options] = task_command(Json::parse(task), "name");
  return target + options;
}

TEST(TaskCommand, NamesWhatTheTaskIsMadeOf) {
  EXPECT_EQ(command_of(R"({"file": "/a/gelu_mlp.py", "module": null, "attr": "Model"})"), "gelu_mlp.py");
  EXPECT_EQ(command_of(R"({"file": null, "module": "torch.nn", "attr": "LayerNorm", "init_args": [256],
                           "init_kwargs": {}, "inputs": ["f32[64,256]"], "named_inputs": {"mask": "bool[64]"}})"),
            "torch.nn:LayerNorm --init 256 --input 'f32[64,256]' 'mask=bool[64]'");
  EXPECT_EQ(command_of(R"({"file": "/a/nets.py", "attr": "Block", "init_args": ["it's", [1, 2], null],
                           "init_kwargs": {"hidden": 128, "bias": false}, "weights": "/b/block.pt", "mode": "eval"})"),
            "nets.py:Block --init 'it'\\''s' '[1,2]' null bias=false hidden=128 --weights block.pt --eval");
  EXPECT_EQ(command_of("null"), "name");
}

TEST(TaskCommand, AValueIsNeverTakenForAnOption) {
  EXPECT_EQ(command_of(R"({"file": "/a/net.py", "attr": "Model", "init_args": [1, "--deep", -2, 3, 4]})"),
            "net.py --init 1 --init=--deep --init=-2 --init 3 4");
}

}  // namespace
}  // namespace mtmc
