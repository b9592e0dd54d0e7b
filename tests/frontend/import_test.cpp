// Import of recorded traces (traces.json, written by make_traces.py): the programs they become.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"
#include "frontend/import.h"
#include "ops/op.h"
#include "support/golden.h"
#include "support/source_dir.h"

namespace mtmc {
namespace {

const Json& traces() {
  static const Json all = Json::parse(*read_file(source_dir() + "/tests/frontend/traces.json"));
  return all;
}

Traced imported(const std::string& name) {
  auto made = import_trace(traces().at(name).at("trace"));
  EXPECT_TRUE(made.ok()) << made.error().message();
  return *std::move(made);
}

std::string graph_text(const Program& program) {
  const std::string text = print(program);
  return text.substr(0, text.find("\nkernel ") + 1);
}

// The line of the user's module that a recorded trace is about.
std::string headline(const Json& entry) {
  const std::string source = entry.at("source");
  const size_t at = source.find("        return ");
  return at == source.npos ? "" : std::string(trim(source.substr(at, source.find('\n', at) - at)));
}

TEST(Import, Examples) {
  for (const auto& [name, entry] : traces().items())
    if (std::filesystem::exists(std::filesystem::path(source_dir()) / "examples" / (name + ".py")))
      expect_golden("frontend/golden/" + name + ".t", print(imported(name).program));
}

TEST(Import, Modules) {
  std::string text;
  for (const auto& [name, entry] : traces().items())
    if (!name.starts_with("call_") && !std::filesystem::exists(source_dir() + "/examples/" + name + ".py"))
      text += graph_text(imported(name).program) + "\n";
  expect_golden("frontend/golden/modules.t", text);
}

TEST(Import, Calls) {
  std::string text;
  for (size_t i = 0; traces().contains("call_" + std::to_string(i)); ++i) {
    const std::string name = "call_" + std::to_string(i);
    text += "# " + headline(traces().at(name)) + "\n" + graph_text(imported(name).program) + "\n";
  }
  expect_golden("frontend/golden/calls.t", text);
}

TEST(Import, TextReadsBack) {
  for (const auto& [name, entry] : traces().items()) {
    const Program program = imported(name).program;
    const auto again = parse_program(print(program));
    ASSERT_TRUE(again.ok()) << again.error().message();
    EXPECT_EQ(*again, program) << name;
  }
}

// The program in docs/PROGRAM.md is one.
TEST(Import, DocumentedProgramHolds) {
  const std::string page = *read_file(source_dir() + "/docs/PROGRAM.md");
  const size_t start = page.find("```program\n") + 11;
  const std::string text = page.substr(start, page.find("```", start) - start);
  const auto program = parse_program(text);
  ASSERT_TRUE(program.ok()) << program.error().message();
  EXPECT_EQ(print(*program), text);
  for (const Status& status : {verify(*program), verify_types(*program)})
    EXPECT_TRUE(status.ok()) << status.error().message();
}

TEST(Import, ShellCarriesWhatThePrintedModuleNeeds) {
  const ModuleShell shell = imported("lists_as_arguments").shell;
  EXPECT_EQ(shell.arguments, (std::vector<std::string>{"xs", "scale", "flag=False"}));
  ASSERT_EQ(shell.opening.size(), 4u);
  EXPECT_EQ(shell.opening[1], "xs_0 = xs[0]");
  EXPECT_EQ(shell.outputs, "{0}");
  EXPECT_EQ(shell.sources.at("lists_as_arguments.py:7"), "return xs[0] * scale + xs[1]");
  EXPECT_NE(shell.constructor_source.find("    # mtmc: forward\n"), std::string::npos);
}

// Outputs that torch returns in memory of their own are copied, views of inputs stay views.
TEST(Import, FreshOutputsStayFresh) {
  const Program program = imported("fresh_outputs").program;
  std::vector<std::string> made;
  for (ValueId id : program.outputs) made.push_back(program.producer(id)->op);
  EXPECT_EQ(made, (std::vector<std::string>{"clone", "t", "mul", "clone", "clone"}));
}

TEST(Import, ErrorsOfTheTracerPassThrough) {
  const auto made = import_trace(Json{{"error", {{"doing", "a"}, {"wrong", "b"}, {"got", "c"}, {"wanted", "d"}}}});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().message(), "a: b: got c, wanted d");
}

TEST(Import, AWrongTypeRuleIsOurBug) {
  Json trace = traces().at("row_softmax").at("trace");
  trace["nodes"][0]["outputs"][0]["type"] = "f32[128]";
  EXPECT_THROW((void)import_trace(trace), Bug);
}

}  // namespace
}  // namespace mtmc
