#include "eval/sandbox_command.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>

#include "base/cores.h"
#include "base/file.h"
#include "base/kernel_headers.h"
#include "base/tempdir.h"
#include "base/variables.h"

namespace mtmc {

namespace {

const std::vector<std::string> kBubblewrap = {
    "bwrap",  "--unshare-all", "--die-with-parent", "--cap-drop", "ALL", "--ro-bind", "/", "/", "--dev", "/dev",
    "--proc", "/proc"};

// The device files of the NVIDIA driver, which bubblewrap's own /dev lacks.
std::vector<std::string> driver_files() {
  std::vector<std::string> files;
  std::error_code ignored;  // no such folder: no GPU
  for (const auto& entry : std::filesystem::directory_iterator("/dev", ignored))
    if (entry.path().filename().string().starts_with("nvidia")) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

constexpr int kDraws = 5;  // the child's number

void give_draws(Command& command, int draws) {
  command.environment["MTMC_DRAWS"] = std::to_string(kDraws);
  command.descriptors = {{draws, kDraws}};
}

bool bubblewrap_works() {
  Command probe;
  probe.argv = kBubblewrap;
  probe.argv.insert(probe.argv.end(), {"--", "true"});
  probe.timeout_seconds = 10;
  const auto finished = run(probe);
  return finished.ok() && finished->exit_code == 0;
}

}  // namespace

JudgeOptions complete_options(JudgeOptions options) {
  if (options.python.empty()) options.python = python_program();
  if (options.source.empty()) options.source = std::filesystem::path(MTMC_SOURCE_DIR) / "python";
  options.seed = seed_or_any(options.seed);
  if (options.threads == 0) options.threads = static_cast<int>(usable_cores().size());
  if (options.memory_bytes == 0) {
    options.memory_bytes =
        static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGE_SIZE)) / 4 * 3;
  }
  return options;
}

Command python_command(const JudgeOptions& options, const std::string& module) {
  Command command;
  command.argv = {options.python, "-m", module};
  const std::string path = variable("PYTHONPATH"), before = path.empty() ? "" : ":" + path;
  command.environment = memory_is_kept();
  command.environment["PYTHONPATH"] = options.source.string() + before;
  command.environment["PYTHONDONTWRITEBYTECODE"] = "1";
  command.environment["MTMC_SWEEP_BYTES"] = std::to_string(static_cast<int64_t>(options.cache_bytes / 2));
  return command;
}

Command referee_command(const JudgeOptions& options) {
  Command command = python_command(options, "mtmc.referee.referee");
  command.environment["OMP_WAIT_POLICY"] = "passive";
  command.environment["GOMP_SPINCOUNT"] = "3000";  // some microseconds: convolutions in double meet for each channel
  if (options.device != "cuda") return command;
  // It lends none of its memory, and what gigabytes in double leave free must fit the next ones.
  command.environment["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True";
  // Its own kernels are compiled once for all runs, and nobody else's lie beside them.
  const std::filesystem::path base = variable("HOME", std::filesystem::temp_directory_path().string());
  command.environment["TRITON_CACHE_DIR"] = base / ".cache/mtmc/referee";
  command.environment["TRITON_INTERPRET"] = "0";
  return command;
}

Command trusting_command(const JudgeOptions& options) {
  Command command = python_command(options, "mtmc.trusting.judge");
  if (options.device == "cpu") command.environment["CPATH"] = kernel_include_path();
  return command;
}

Command rival_command(const JudgeOptions& options, int draws, const std::string& engine) {
  Command command = python_command(options, "mtmc.rivals.baseline");
  command.argv.push_back(engine);
  give_draws(command, draws);
  return command;
}

Command zygote_command(const JudgeOptions& options, const std::filesystem::path& writable, int draws) {
  Command command = python_command(options, "mtmc.keeper.zygote");
  give_draws(command, draws);
  const bool on_gpu = options.device == "cuda";
  if (on_gpu) command.argv.push_back("cuda");
  command.environment["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1";  // so that asking for GPUs initialises nothing
  command.environment["TMPDIR"] = writable.string();
  // Torch compiles extensions with ccache where it is installed, and guests cannot write to its folder.
  command.environment["CCACHE_DISABLE"] = "1";
  command.environment["MTMC_SANDBOX"] = options.sandbox;
  command.environment["MTMC_INSIDE_BWRAP"] = "0";
  if (!options.sandbox.empty() || !bubblewrap_works()) return command;
  std::vector<std::string> argv = kBubblewrap;
  if (on_gpu)
    for (const std::string& file : driver_files()) argv.insert(argv.end(), {"--dev-bind", file, file});
  argv.insert(argv.end(), {"--bind", writable.string(), writable.string(), "--"});
  argv.insert(argv.end(), command.argv.begin(), command.argv.end());
  command.argv = std::move(argv);
  command.environment["MTMC_INSIDE_BWRAP"] = "1";
  return command;
}

void claim_folder(const std::filesystem::path& folder) {
  const char* mark = "judge.pid";
  std::error_code ignored;  // leftovers of others may vanish while we look, or not be ours to remove
  for (const auto& entry : std::filesystem::directory_iterator(folder.parent_path(), ignored)) {
    const auto text = read_file(entry.path() / mark);
    const pid_t owner = text.ok() ? std::atoi(text->c_str()) : 0;
    if (owner > 0 && ::kill(owner, 0) != 0 && errno == ESRCH) remove_everything(entry.path());
  }
  std::ofstream(folder / mark) << getpid();
}

std::filesystem::path memory_folder() {
  const std::filesystem::path shared = "/dev/shm";
  return access(shared.c_str(), W_OK) == 0 ? shared : std::filesystem::temp_directory_path();
}

}  // namespace mtmc
