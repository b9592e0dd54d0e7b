// The grammar: the same seed, the same files; all different, worth optimising, and all blocks occur.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "generate/block.h"
#include "generate/kind.h"
#include "generate/scan.h"

namespace mtmc {
namespace {

std::vector<GeneratedTask> drawn(const KindDef& kind, TaskSize size, uint64_t seed, int count) {
  TaskSource source(kind, size, seed);
  std::vector<GeneratedTask> tasks;
  for (int i = 0; i < count; ++i) tasks.push_back(source.next());
  return tasks;
}

TEST(Generate, TheSameSeedGivesTheSameFiles) {
  for (const KindDef* kind : all_kinds()) {
    const auto some = drawn(*kind, TaskSize::large, 4, 5), more = drawn(*kind, TaskSize::large, 4, 9),
               other = drawn(*kind, TaskSize::large, 5, 5);
    for (size_t i = 0; i < some.size(); ++i) {
      EXPECT_EQ(some[i].text, more[i].text) << kind->name;
      EXPECT_NE(some[i].text, other[i].text) << kind->name;
    }
  }
}

TEST(Generate, LargeTasksTakeAGpuTensOfMicrosecondsToMilliseconds) {
  for (const KindDef* kind : all_kinds())
    for (const GeneratedTask& task : drawn(*kind, TaskSize::large, 1, 100)) {
      EXPECT_GE(task.seconds, 1e-5) << task.text;
      EXPECT_LE(task.seconds, 1e-2) << task.text;
    }
}

TEST(Generate, FilesHaveKernelBenchsShape) {
  for (const KindDef* kind : all_kinds())
    for (const GeneratedTask& task : drawn(*kind, TaskSize::small, 2, 50)) {
      for (const char* part : {"\nclass Model(nn.Module):\n", "    def forward(self, ", "\ndef get_inputs():\n",
                               "\ndef get_init_inputs():\n"})
        EXPECT_NE(task.text.find(part), std::string::npos) << part << " in\n" << task.text;
    }
}

TEST(Generate, NamesDoNotTellTasksApart) {
  Rng rng(1);
  const auto key = [&](const char* name, int64_t width) {
    ModuleText text(rng, TaskSize::large);
    const Dim dim = text.size(name, width);
    text.domain = Domain::rows, text.shape = {dim, dim};
    text.var = text.argument({name[0] == 'w' ? "x" : "inputs"}, text.randn(text.shape));
    text.become("torch.relu(" + text.var + ")");
    return text.key();
  };
  EXPECT_EQ(key("width", 8), key("rows", 8));
  EXPECT_NE(key("width", 8), key("width", 16));
}

TEST(Generate, EveryBlockOccurs) {
  std::string all;
  for (const KindDef* kind : all_kinds())
    for (const GeneratedTask& task : drawn(*kind, TaskSize::small, 3, 400))
      all += task.text.substr(0, task.text.find("\n"));
  for (const Role role : {Role::pointwise, Role::structured, Role::end})
    for (const Domain domain : {Domain::rows, Domain::tokens, Domain::sequence, Domain::image, Domain::volume})
      for (const Block* block : blocks_for(role, domain)) {
        const std::string name(block->name.substr(0, block->name.find("_conv")));  // signed by what they share
        EXPECT_TRUE(all.find(name) != all.npos || name == "dilated" || name == "depthwise") << name;
      }
}

TEST(Scan, FindsSharedFingerprints) {
  const Fingerprints files = {
      {"a.py", {{"s1"}, {"g1"}, ""}}, {"b.py", {{"s2"}, {}, "why"}}, {"c.py", {{"s3"}, {"g3"}, ""}}};
  const Fingerprints others = {{"x.py", {{"s1", "s2"}, {"g1"}, ""}}};
  const std::vector<Match> found = matches(files, others);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].file + found[0].other + found[0].by, "a.pyx.pyoperators");
  EXPECT_EQ(found[1].file + found[1].other + found[1].by, "b.pyx.pysyntax");
}

TEST(Scan, APathThatIsNotThereIsAnError) {
  const auto found = fingerprints({"/nowhere/at/all"});
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().wrong, "no such file or folder");
}

}  // namespace
}  // namespace mtmc
