// Model folders and files in which something is missing or wrong, made of the tiny models of tests/lm/make_models.py.
#include "checkpoint/checkpoint.h"

#include <gmock/gmock.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/tempdir.h"
#include "support/source_dir.h"

namespace mtmc {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::HasSubstr;

fs::path model(const std::string& name) { return source_dir() + "/tests/lm/data/" + name; }

// What is said of a model after a change; "" when it opens all the same.
std::string refusal(const std::string& name, const std::function<void(const fs::path&)>& change) {
  TempDir folder;
  const fs::path copy = folder.path() / name;
  fs::copy(model(name), copy, fs::copy_options::recursive);
  change(copy);
  const auto opened = open_checkpoint(copy);
  return opened.ok() ? "" : opened.error().message();
}

std::function<void(const fs::path&)> with(const char* field, const Json& value) {
  return [=](const fs::path& folder) {
    Json config = Json::parse(read_file(folder / "config.json").value());
    config[field] = value;
    ASSERT_TRUE(write_file(folder / "config.json", config.dump()).ok());
  };
}

std::function<void(const fs::path&)> without(const char* file) {
  return [=](const fs::path& folder) { fs::remove(folder / file); };
}

TEST(Checkpoint, UnchangedModelsOpen) {
  for (const char* name : {"llama", "qwen", "deepseek", "smollm", "smollm.gguf"})
    EXPECT_EQ(refusal(name, [](const fs::path&) {}), "") << name;
}

TEST(Checkpoint, WhatIsMissingIsNamed) {
  EXPECT_THAT(refusal("llama", without("model-00002-of-00002.safetensors")),
              HasSubstr("a shard is missing: got model-00002-of-00002.safetensors"));
  EXPECT_THAT(refusal("smollm", without("config.json")), HasSubstr("no config.json"));
  EXPECT_THAT(refusal("smollm", without("tokenizer.json")), HasSubstr("no tokenizer.json"));
  EXPECT_THAT(refusal("smollm", with("num_hidden_layers", 3)),
              HasSubstr("a weight is missing: wanted model.layers.2."));
  EXPECT_THAT(open_checkpoint(model("nothing")).error().message(), HasSubstr("no such file or folder"));
}

TEST(Checkpoint, WhatDoesNotFitTheConfigIsRefused) {
  EXPECT_THAT(refusal("smollm", with("intermediate_size", 40)), HasSubstr("has a wrong shape: got ["));
  EXPECT_THAT(refusal("smollm", with("num_hidden_layers", 1)),
              HasSubstr("a weight that this architecture does not have: got model.layers.1."));
  EXPECT_THAT(refusal("smollm", with("num_key_value_heads", 3)), HasSubstr("heads that do not go together"));
  EXPECT_THAT(refusal("smollm", with("model_type", "mamba")), HasSubstr("unknown architecture: got mamba"));
}

TEST(Checkpoint, TruncatedFilesAreRefused) {
  for (const char* name : {"smollm", "smollm.gguf"}) {
    for (const double part : {0.0, 0.001, 0.5, 0.98}) {
      const std::string said = refusal(name, [part](const fs::path& at) {
        const fs::path file = fs::is_directory(at) ? at / "model.safetensors" : at;
        fs::resize_file(file, static_cast<uintmax_t>(part * static_cast<double>(fs::file_size(file))));
      });
      EXPECT_THAT(said, AnyOf(HasSubstr("truncated"), HasSubstr("is empty"))) << name << " " << part;
    }
  }
}

}  // namespace
}  // namespace mtmc
