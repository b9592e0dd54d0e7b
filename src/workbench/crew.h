// Tasks dealt out to processes of this program, each with a GPU and processors of its own: `mtmc bench` or `collect`
// with --member, which takes names of tasks and answers each with what it made of it.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/process.h"
#include "base/result.h"
#include "search/progress.h"

namespace mtmc {

// The command that began this process: a member is begun with it and a word more.
Result<std::vector<std::string>> own_command();

// `count` times `command`, with the processors divided among them, and GPUs where there are any (as
// CUDA_VISIBLE_DEVICES names them). Where they are fewer, those that share one are alone on it while they time
// (turn.h). `folder`, which outlives the members, has their temporary files in it.
std::vector<Command> member_commands(const std::vector<std::string>& command, size_t count,
                                     const std::vector<std::string>& gpus, const std::filesystem::path& folder);

// The same on the machines of a Ray cluster, which says where each runs (python/mtmc/crew/remote.py).
std::vector<Command> remote_commands(const std::vector<std::string>& command, size_t count, const std::string& address);
// How many members a cluster has GPUs for; one where it has none. An Error: no cluster answers, or Ray is missing.
Result<size_t> remote_places(const std::string& address);

// What is wrong with a task that its member was ended for, where nothing else is (see work_off).
inline constexpr const char* kTookTooLong = "it took too long";

// What happens to a task. Both are called by one thread at a time.
struct CrewListener {
  std::function<bool(const std::string& task)> begins;  // false: neither it nor any other
  // What the member made of it, or why nothing: the member died.
  std::function<void(const std::string& task, const Result<Json>& reply)> ended;
};

// Hands out `tasks`, nearly in order: each member is told which one is kept for it to do next. A member that dies is
// begun anew for the next task, and so is one that works on a task for longer than `limit` seconds (0: as long as it
// takes). An Error: one ended before it was ready, and has said on standard error why; what others have begun is ended
// first.
Status work_off(const std::vector<Command>& members, const std::vector<std::string>& tasks,
                const CrewListener& listener, double limit = 0);

// What a member tells while it works: nothing. What it finds are its answers.
class Silence final : public ProgressListener {
  void on_doing(const std::string&, const RunStatus&) override {}
  void on_attempt(const NodeRecord&, bool, const RunStatus&) override {}
};

// The member's side: reads names of tasks until there are no more, and answers with what `work` makes of each. `next`
// is what it will most likely be given then; empty: nobody knows.
void serve_crew(const std::function<Json(const std::string& task, const std::string& next)>& work);

}  // namespace mtmc
