// Code is found in answers of every shape.
#include "coder/answer.h"

#include <gtest/gtest.h>

namespace mtmc {
namespace {

constexpr const char* kModel =
    "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x\n";
const std::string kFenced = "```python\n" + std::string(kModel) + "```\n";

TEST(Answer, FindsTheLastBlockThatDefinesTheModel) {
  EXPECT_EQ(code_of(kFenced, "").value(), kModel);
  EXPECT_EQ(code_of("Sure! Here is it:\r\n\r\n" + kFenced + "\nIt is faster because ...", "").value(), kModel);
  EXPECT_EQ(
      code_of("```python\nimport torch\nclass ModelNew: old\n```\nbetter:\n" + kFenced + "```bash\npip install x\n```",
              "")
          .value(),
      kModel);
  EXPECT_EQ(code_of("~~~~py title=kernel.py\n" + std::string(kModel) + "~~~~\n", "").value(), kModel);
  EXPECT_EQ(code_of("<think>\n```python\nimport torch\nclass ModelNew: wrong\n```\n</think>\n" + kFenced, "").value(),
            kModel);
}

TEST(Answer, ALongerNameIsNoModel) {
  const std::string use = "Try it:\n```python\nfrom kernel import ModelNew\nclass ModelNewTest: pass\n```\n";
  EXPECT_EQ(code_of(kFenced + use, "").value(), kModel);
}

TEST(Answer, PutsBlocksTogetherThatBelongTogether) {
  const std::string parts =
      "First the kernel:\n```python\nimport torch\nSOURCE = 1\n```\nthen the module:\n"
      "```python\nclass ModelNew(torch.nn.Module):\n    pass\n```\n";
  const auto code = code_of(parts, "");
  ASSERT_TRUE(code.ok()) << code.error().message();
  EXPECT_EQ(*code, "import torch\nSOURCE = 1\n\nclass ModelNew(torch.nn.Module):\n    pass\n\n");
}

TEST(Answer, TakesCodeWithoutFences) {
  EXPECT_EQ(code_of("Here you are.\n\n" + std::string(kModel), "").value(), kModel);
}

std::string indented(const std::string& text, const std::string& by) {
  std::string out = by;
  for (const char c : text) out += c == '\n' ? "\n" + by : std::string(1, c);
  return out.substr(0, out.size() - by.size());
}

TEST(Answer, TakesTheFencesIndentationOffEachLine) {
  for (const std::string by : {"  ", "   ", "    ", "\t"}) {
    const auto code = code_of("1. The file:\n\n" + indented(kFenced, by), "");
    ASSERT_TRUE(code.ok()) << code.error().message();
    EXPECT_EQ(*code, kModel) << by.size();
  }
}

TEST(Answer, AFenceInAStringOfSeveralLinesEndsNoBlock) {
  for (const std::string quotes : {"\"\"\"", "'''"}) {
    const std::string code = "import torch\n# it's\n\n\nclass ModelNew(torch.nn.Module):\n    " + quotes +
                             "Use:\n```python\nx\n```\n    " + quotes +
                             "\n    def forward(self, x):\n        return x\n";
    EXPECT_EQ(code_of("```python\n" + code + "```\nThat is all.\n", "").value(), code);
    EXPECT_FALSE(cut_short("```python\n" + code + "```\n", Stop::end));
  }
  const std::string broken = "```python\nx = \"\"\"never closed\n```\n";
  EXPECT_FALSE(cut_short(broken, Stop::end)) << "what is wrong with the code is said of the code";
}

TEST(Answer, ADifferenceCountsAndNotTheCodeThatIsQuotedBesideIt) {
  const std::string change = "-        return x\n+        return x + 5\n";
  const std::string wanted =
      "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n"
      "        return x + 5\n";
  const std::string diff = "```diff\n@@ -6 +6 @@\n" + change + "```\n";
  const std::string part = "```python\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n```\n";
  const std::string patch =
      "*** Begin Patch\n*** Update File: kernel.py\n@@ def forward\n" + change + "*** End Patch\n";
  for (const std::string& answer :
       {"The code was:\n" + kFenced + "The change:\n" + diff, diff + "The code was:\n" + kFenced, part + diff,
        "```diff\n--- a\n+++ b\n@@\n" + change + "```\n", "@@\n" + change, patch, patch + "\nIt is faster now.\n",
        "```\n" + patch + "```\n", kFenced + "\n" + patch,
        "*** Begin Patch\n*** Update File: kernel.py\n" + change + "*** End Patch\n",
        "*** Begin Patch\n*** Add File: kernel.py\n" + indented(wanted, "+") + "*** End Patch\n"}) {
    const auto code = code_of(answer, kModel);
    ASSERT_TRUE(code.ok()) << answer << code.error().message();
    EXPECT_EQ(*code, wanted) << answer;
  }
  EXPECT_EQ(code_of(kFenced, kModel).value(), kModel) << "quoted, and nothing else";
  EXPECT_EQ(code_of("```python\n" + wanted + "```\nas a difference:\n" + diff, kModel).value(), wanted);
}

TEST(Answer, DifferencesInSeveralBlocksAreOneAndTheLastTryCountsElse) {
  const std::string before = "class ModelNew:\n    a = 1\n    b = 2\n";
  const auto block = [](const std::string& change) { return "```diff\n@@\n" + change + "```\n"; };
  EXPECT_EQ(code_of(block("-    a = 1\n+    a = 3\n") + "and\n" + block("-    b = 2\n+    b = 4\n"), before).value(),
            "class ModelNew:\n    a = 3\n    b = 4\n");
  EXPECT_EQ(code_of(block("-    a = 1\n+    a = 3\n") + "no:\n" + block("-    a = 1\n+    a = 5\n"), before).value(),
            "class ModelNew:\n    a = 5\n    b = 2\n");
  EXPECT_EQ(apply_diff("def f\n  x\ndef g\n  x\n", "@@ def g\n-  x\n+  y\n").value(), "def f\n  x\ndef g\n  y\n")
      << "behind the line that is named";
}

TEST(Answer, SaysWhyThereIsNoCode) {
  const auto why = [](const std::string& answer) { return code_of(answer, kModel).error().message(); };
  EXPECT_EQ(why(" \n"), "reading the answer: it is empty: wanted a Python block that defines ModelNew");
  EXPECT_EQ(why("I cannot help with that."),
            "reading the answer: there is no code in it: wanted a Python block that defines ModelNew");
  EXPECT_EQ(why("```cpp\nint main() {}\n```"),
            "reading the answer: none of its blocks defines ModelNew: got blocks of cpp, wanted a Python block that "
            "defines ModelNew");
  EXPECT_EQ(why("<think>so many thoughts"),
            "reading the answer: it is empty: wanted a Python block that defines ModelNew");
}

TEST(Answer, AppliesDifferences) {
  const std::string before = "a\nb\nc\nd\nb\nc\n";
  EXPECT_EQ(apply_diff(before, "--- a/k.py\n+++ b/k.py\n@@ -5,2 +5,2 @@\n b\n-c\n+C\n").value(), "a\nb\nc\nd\nb\nC\n");
  EXPECT_EQ(apply_diff(before, "@@ -90,1 +90,2 @@ def f\n-d\n+D1\n+D2\n").value(), "a\nb\nc\nD1\nD2\nb\nc\n")
      << "wrong numbers";
  EXPECT_EQ(apply_diff(before, "@@\n a\n+x\n b\n@@\n d\n-b\n").value(), "a\nx\nb\nc\nd\nc\n") << "no numbers";
  EXPECT_EQ(apply_diff(before, "@@ -1 +1 @@\n-z\n+y\n").error().wrong, "its difference does not fit the code");
  const std::string answer =
      "Only one line changes:\n```diff\n@@ -6 +6 @@\n-        return x\n+        return x.clone()\n```\n";
  EXPECT_NE(code_of(answer, kModel).value().find("return x.clone()"), std::string::npos);
}

TEST(Answer, GoesOnWhereItBrokeOff) {
  const std::string first = "```python\nimport torch\n\n\nclass ModelNew(torch.nn.Module):\n    def for";
  EXPECT_TRUE(cut_short(first, Stop::end)) << "the fence is open";
  EXPECT_TRUE(cut_short(kFenced, Stop::length));
  EXPECT_FALSE(cut_short(kFenced, Stop::end));
  EXPECT_EQ(code_of(joined(first, "ward(self, x):\n        return x\n```\n"), "").value(), kModel);
  EXPECT_EQ(
      code_of(joined(first,
                     "```python\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x\n```"),
              "")
          .value(),
      kModel)
      << "with a fence, and the last lines again";
}

TEST(AnswerCheck, SaysWhatIsWrongWithAFile) {
  const auto wrong = [](const std::string& code) {
    const Status checked = check_code(code);
    return checked.ok() ? "" : checked.error().message();
  };
  EXPECT_EQ(wrong(kModel), "");
  EXPECT_EQ(wrong("class ModelNew(:\n"), "checking the answer: line 1: invalid syntax");
  EXPECT_EQ(wrong("import torch\n"), "checking the answer: it defines no class ModelNew");
  EXPECT_EQ(wrong(std::string("import urllib.request\n") + kModel),
            "checking the answer: line 1: it may not import urllib.request");
  EXPECT_EQ(wrong("import torch\nclass ModelNew(torch.nn.Module):\n    pass\n"),
            "checking the answer: line 2: ModelNew has no forward");
  EXPECT_NE(wrong(std::string(200000, '(') + kModel), "") << "deep nesting is survived";
}

}  // namespace
}  // namespace mtmc
