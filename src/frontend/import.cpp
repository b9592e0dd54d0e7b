#include "frontend/import.h"

#include <cctype>
#include <nlohmann/json.hpp>

#include "frontend/graph_builder.h"
#include "ops/op.h"

namespace mtmc {
namespace {

std::string identifier(std::string text) {
  for (char& c : text)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return text.empty() ? "module" : text;
}

ModuleShell shell_of(const Json& traced) {
  ModuleShell shell;
  shell.constructor_source = traced.at("constructor_source");
  shell.arguments = traced.at("parameters").get<std::vector<std::string>>();
  shell.opening = traced.at("opening").get<std::vector<std::string>>();
  shell.outputs = traced.at("template");
  shell.description = traced.at("name");
  for (const Json& node : traced.at("nodes"))
    if (!node.at("at").get<std::string>().empty()) shell.sources[node.at("at")] = node.at("source");
  return shell;
}

}  // namespace

Result<Traced> import_trace(const Json& traced) {
  if (traced.contains("error")) {
    const Json& error = traced.at("error");
    return Error{error.at("doing"), error.at("wrong"), error.at("got"), error.at("wanted")};
  }
  GraphBuilder builder(identifier(traced.at("name")));
  for (const char* kind : {"input", "param", "buffer", "constant"})
    for (const Json& leaf : traced.at("leaves"))
      if (leaf.at("kind") == kind) builder.add_leaf(leaf);
  for (const Json& node : traced.at("nodes")) builder.add_call(node);
  for (const Json& state : traced.at("states"))
    builder.add_state(state.at("target"), state.at("value"), state.value("returned", false));
  for (const Json& output : traced.at("outputs")) builder.add_output(output);
  Traced made{std::move(builder).finish(), shell_of(traced)};
  for (const Status& status : {verify(made.program), verify_types(made.program)})
    MTMC_CHECK(status.ok(), status.error().message() + "\n" + print(made.program));
  return made;
}

}  // namespace mtmc
