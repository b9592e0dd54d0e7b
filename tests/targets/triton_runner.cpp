#include "targets/triton_runner.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/check.h"
#include "base/file.h"
#include "base/json.h"
#include "base/process.h"
#include "base/tempdir.h"
#include "ir/hardware.h"
#include "ops/op.h"
#include "support/source_dir.h"
#include "targets/recorded_programs.h"
#include "targets/target.h"

namespace mtmc::testing {
namespace {

std::string python() {
  const char* given = std::getenv("MTMC_PYTHON");
  return given ? given : "python3";
}

// All leaves become arguments of forward, so that no module has to hold them.
Program bare(Program program) {
  int count = 0;
  for (Value& value : program.values) {
    if (value.kind == ValueKind::result || literal(value)) continue;
    value.kind = ValueKind::input;
    value.name = "x" + std::to_string(count++);
  }
  for (const StateUpdate& state : program.states) program.outputs.push_back(state.value);
  program.states.clear();
  return program;
}

std::string module_of(const Program& program) {
  ModuleShell shell;
  shell.constructor_source = "class ModelNew(torch.nn.Module):\n    # mtmc: forward\n";
  for (const Value& value : program.values)
    if (value.kind == ValueKind::input) shell.arguments.push_back(value.name);
  shell.outputs = "[";
  for (size_t i = 0; i < program.outputs.size(); ++i) shell.outputs += "{" + std::to_string(i) + "}, ";
  shell.outputs += "]";
  const auto code = find_target("triton")->emit(program, h200_hardware(), shell);
  MTMC_CHECK(code.ok(), code.error().message() + "\n" + print(program));
  return code->text;
}

// A file beside module `number`: numbers one after the other.
std::filesystem::path numbers_file(const TempDir& folder, size_t number, const char* kind) {
  return folder.path() / ("module" + std::to_string(number) + kind);
}

std::vector<std::vector<double>> read_outputs(const std::filesystem::path& file, const std::vector<size_t>& sizes) {
  const std::string bytes = sizes.empty() ? "" : read_file(file).value();
  std::vector<std::vector<double>> outputs;
  size_t at = 0;
  for (const size_t size : sizes) {
    std::vector<double>& data = outputs.emplace_back(size);
    MTMC_CHECK(at + size * sizeof(double) <= bytes.size(), "the outputs end too early");
    std::memcpy(data.data(), bytes.data() + at, size * sizeof(double));
    at += size * sizeof(double);
  }
  return outputs;
}

Json run_script(const TempDir& folder, const Json& request, const std::string& device) {
  MTMC_CHECK(write_file(folder.path() / "request.json", request.dump()).ok(), "cannot write the request");
  std::map<std::string, std::string> environment;
  if (device == "cpu") environment["TRITON_INTERPRET"] = "1";
  environment["TRITON_CACHE_DIR"] = (folder.path() / "cache").string();
  const auto done = run({{python(), source_dir() + "/tests/targets/run_modules.py", device, folder.path().string()},
                         {},
                         environment,
                         900});
  MTMC_CHECK(done.ok(), done.error().message());
  MTMC_CHECK(done->exit_code == 0, done->err);
  return Json::parse(read_file(folder.path() / "reply.json").value());
}

}  // namespace

TritonKernel printed(const Case& one) {
  auto kernel = print_triton_kernel(one.program, one.program.kernels[0], h200_hardware());
  MTMC_CHECK(kernel.ok(), kernel.error().message());
  return std::move(*kernel);
}

std::string triton_is_missing(const std::string& device) {
  if (device == "cuda" && gpus().empty()) return "this machine has no NVIDIA GPU";
  const std::string code =  // to import them would take seconds
      "import importlib.util, sys; sys.exit(not all(map(importlib.util.find_spec, ('torch', 'triton'))))";
  const auto done = run({{python(), "-c", code}, {}, {}, 120});
  return done.ok() && done->exit_code == 0 ? "" : "torch and triton are not both installed";
}

std::vector<TritonRun> run_on_triton(const std::vector<Program>& programs,
                                     const std::vector<std::vector<std::vector<double>>>& leaves,
                                     const std::string& device) {
  TempDir folder;
  Json request = Json::array();
  for (size_t p = 0; p < programs.size(); ++p) {
    const Program program = bare(programs[p]);
    Json inputs = Json::array();
    std::string numbers;
    size_t next = 0;
    for (const Value& value : program.values) {
      if (value.kind == ValueKind::result) continue;
      const std::vector<double>& data = leaves[p][next++];
      if (value.kind != ValueKind::input) continue;
      inputs.push_back({{"dtype", name(value.type.dtype)}, {"shape", value.type.shape}});
      numbers.append(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(double));
    }
    request.push_back({{"text", module_of(program)}, {"inputs", inputs}});
    MTMC_CHECK(write_file(numbers_file(folder, p, ".inputs"), numbers).ok(), "cannot write the arguments");
  }
  const Json reply = run_script(folder, request, device);
  std::vector<TritonRun> runs;
  for (size_t p = 0; p < programs.size(); ++p) {
    const auto sizes = reply[p].value("outputs", std::vector<size_t>());
    runs.push_back(
        {read_outputs(numbers_file(folder, p, ".outputs"), sizes), reply[p].value("failure", ""), request[p]["text"]});
  }
  return runs;
}

void expect_close(const std::vector<Case>& cases, double tolerance, const std::string& device) {
  std::vector<Program> programs;
  std::vector<std::vector<std::vector<double>>> leaves;
  for (const Case& c : cases) {
    programs.push_back(c.program);
    leaves.push_back(c.leaves);
  }
  std::vector<Result<std::vector<std::vector<double>>>> truths;
  std::thread definition([&] {  // takes a third as long
    for (size_t i = 0; i < cases.size(); ++i) truths.push_back(evaluate(programs[i], leaves[i]));
  });
  const auto runs = run_on_triton(programs, leaves, device);
  definition.join();
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto& truth = truths[i];
    ASSERT_TRUE(truth.ok()) << truth.error().message();
    EXPECT_EQ(runs[i].failure, "") << print(programs[i]) << runs[i].text;
    if (!runs[i].failure.empty()) continue;
    ASSERT_EQ(runs[i].outputs.size(), truth->size()) << print(programs[i]);
    for (size_t o = 0; o < truth->size(); ++o)
      EXPECT_EQ(difference(runs[i].outputs[o], (*truth)[o], tolerance), "") << print(programs[i]) << runs[i].text;
  }
}

std::vector<std::string> compile_triton(const std::vector<Program>& programs) {
  Json request = Json::array();
  for (const Program& program : programs) {
    const Program all = bare(program);
    Json inputs = Json::array();
    for (const Value& value : all.values)
      if (value.kind == ValueKind::input)
        inputs.push_back({{"dtype", name(value.type.dtype)}, {"shape", value.type.shape}});
    request.push_back({{"text", module_of(all)}, {"inputs", inputs}});
  }
  const TempDir folder;
  std::vector<std::string> failures;
  for (const Json& one : run_script(folder, request, "ahead")) failures.push_back(one.value("failure", ""));
  return failures;
}

}  // namespace mtmc::testing
