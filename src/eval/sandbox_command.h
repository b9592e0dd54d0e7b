// How the judge's processes are started: which Python, which walls.
#pragma once
#include <filesystem>

#include "base/process.h"
#include "eval/process_judge.h"

namespace mtmc {

// Fills in what was left to us: Python, source folder, seed, threads, memory.
JudgeOptions complete_options(JudgeOptions options);
Command python_command(const JudgeOptions& options, const std::string& module);
// Nothing is timed in the referee: its threads sleep when they wait, and leave the cores to those that are.
Command referee_command(const JudgeOptions& options);
// A referee that runs candidates, too.
Command trusting_command(const JudgeOptions& options);
// The zygote inside bubblewrap where it works: only `writable` can be changed, no network, own process namespace.
// `draws`: a descriptor of the folder of all tasks, whose files it puts into guests.
Command zygote_command(const JudgeOptions& options, const std::filesystem::path& writable, int draws);
// A process in which the module itself is timed.
Command rival_command(const JudgeOptions& options, int draws, const std::string& engine);
// A folder in memory where the machine has one, else the temporary folder: draws and outputs pass through it.
std::filesystem::path memory_folder();
// Marks a folder made there as this process's, and removes those whose process was killed.
void claim_folder(const std::filesystem::path& folder);

}  // namespace mtmc
