// Prints programs of one kernel for bench/kernels.py: eager.py (torch's operators) and a module for every version of
// the kernel that the triton target would try.
//   ninja -C build/release bench_kernels && build/release/bench_kernels OUT bench/kernels/*.t
#include <fmt/core.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "targets/target.h"

namespace {

using namespace mtmc;

ModuleShell bare_shell(const Program& program) {
  ModuleShell shell;
  shell.constructor_source = "class ModelNew(torch.nn.Module):\n    # mtmc: forward\n";
  shell.description = program.name;
  for (const Value& value : program.values)
    if (value.kind == ValueKind::input) shell.arguments.push_back(value.name);
  return shell;
}

Status print_versions(const std::filesystem::path& file, const std::filesystem::path& out) {
  MTMC_TRY(const std::string text, read_file(file));
  MTMC_TRY(Program program, parse_program(text));
  const TargetDef& triton = *find_target("triton");
  MTMC_TRY(const Machine machine, triton.machine());
  const ModuleShell shell = bare_shell(program);
  const std::filesystem::path folder = out / program.name;
  std::filesystem::create_directories(folder);
  Json inputs = Json::array(), versions = Json::array();
  for (const Value& value : program.values)
    if (value.kind == ValueKind::input) inputs.push_back(to_string(value.type));
  for (const auto& numbers : triton.candidates(program, program.kernels[0], machine.hardware)) {
    program.kernels[0].numbers = numbers;
    MTMC_TRY(const Code code, triton.emit(program, machine.hardware, shell));
    MTMC_RETURN_IF_ERROR(write_file(folder / fmt::format("v{}.py", versions.size()), code.text));
    versions.push_back(numbers);
  }
  reset_kernels(program);
  MTMC_TRY(const Code eager, triton.emit(program, machine.hardware, shell));
  MTMC_RETURN_IF_ERROR(write_file(folder / "eager.py", eager.text));
  return write_file(folder / "versions.json", Json({{"inputs", inputs}, {"versions", versions}}).dump());
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 2; i < argc; ++i)
    if (const Status done = print_versions(argv[i], argv[1]); !done.ok()) {
      fmt::print(stderr, "{}: {}\n", argv[i], done.error().message());
      return 1;
    }
  return 0;
}
