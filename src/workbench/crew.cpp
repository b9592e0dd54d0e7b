#include "workbench/crew.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <future>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/cores.h"
#include "base/file.h"
#include "base/text.h"
#include "base/variables.h"

namespace mtmc {
namespace {

constexpr double kForever = std::numeric_limits<int>::max();
constexpr double kReady = 600;  // seconds to measure a new machine, and to load weights
constexpr const char* kReadyWord = "ready";

// The tasks, and what may be done with them by whoever holds the lock.
struct Shared {
  std::mutex lock;
  std::vector<std::string> tasks;  // the next one last
  const CrewListener& listener;
  double limit;  // seconds of a task

  std::optional<std::string> next() {
    const std::lock_guard held(lock);
    if (tasks.empty()) return std::nullopt;
    std::string task = tasks.back();
    tasks.pop_back();
    if (listener.begins(task)) return task;
    tasks.clear();
    return std::nullopt;
  }
  void ended(const std::string& task, const Result<Json>& reply) {
    const std::lock_guard held(lock);
    listener.ended(task, reply);
  }
};

Result<LineProcess> begin(const Command& command) {
  MTMC_TRY(LineProcess member, LineProcess::start(command));
  const Result<std::string> word = member.receive(kReady);
  if (!word.ok() || *word != kReadyWord)
    return Error{"starting a member", "it is not ready", word.ok() ? "'" + *word + "'" : word.error().wrong,
                 "a process that takes tasks"};
  return member;
}

Result<Json> reply_of(LineProcess& member, const std::string& task, double limit) {
  const Status sent = member.send(task);
  const Result<std::string> line = sent.ok() ? member.receive(limit) : sent.error();
  if (!line.ok() && line.error().wrong == "timed out")
    return Error{"optimising " + task, kTookTooLong, "no end", fmt::format("one within {:.0f} s", limit)};
  if (!line.ok()) {
    const std::string ending = member.ending();
    return Error{"optimising " + task, "its member ended", ending.empty() ? line.error().wrong : ending, "an answer"};
  }
  const Json reply = Json::parse(*line, nullptr, false);
  if (reply.is_discarded()) return Error{"reading a member's answer", "it is not JSON", "'" + *line + "'", ""};
  return reply;
}

Command remote(const std::string& address) { return {.argv = {python_program(), "-m", "mtmc.crew.remote", address}}; }

// One member's life. A member dies with the thread that began it, so this is its thread.
Status keep_at_work(const Command& command, Shared& shared) {
  std::optional<LineProcess> member;
  while (true) {
    if (!member) {  // before a task is taken: one that cannot be begun takes none with it
      MTMC_TRY(LineProcess begun, begin(command));
      member.emplace(std::move(begun));
    }
    const std::optional<std::string> task = shared.next();
    if (!task) return ok_status();
    const Result<Json> reply = reply_of(*member, *task, shared.limit);
    shared.ended(*task, reply);
    if (!reply.ok()) member.reset();
  }
}

}  // namespace

Result<std::vector<std::string>> own_command() {
  MTMC_TRY(const std::string text, read_file("/proc/self/cmdline"));
  std::vector<std::string> words = split(text, '\0');
  words.front() = std::filesystem::read_symlink("/proc/self/exe");
  if (words.back().empty()) words.pop_back();
  return words;
}

std::vector<Command> member_commands(const std::vector<std::string>& command, size_t count,
                                     const std::vector<std::string>& gpus, const std::filesystem::path& folder) {
  const std::vector<int>& cores = usable_cores();
  const size_t each = std::max<size_t>(1, cores.size() / count);
  std::vector<Command> all;
  for (size_t i = 0; i < count; ++i) {
    std::vector<std::string> own;
    for (size_t core = i * each; core < (i + 1) * each; ++core)
      own.push_back(std::to_string(cores[core % cores.size()]));
    Command one{.argv = {"taskset", "-c", join(own, ",")}};
    one.argv.insert(one.argv.end(), command.begin(), command.end());
    one.environment["TMPDIR"] = folder;
    if (!gpus.empty()) {
      const size_t which = i % gpus.size();
      one.environment["CUDA_VISIBLE_DEVICES"] = gpus[which];
      if (count > gpus.size()) one.environment["MTMC_TURN"] = folder / ("turn-" + std::to_string(which));
    }
    all.push_back(std::move(one));
  }
  return all;
}

std::vector<Command> remote_commands(const std::vector<std::string>& command, size_t count,
                                     const std::string& address) {
  Command one = remote(address);
  one.argv.emplace_back("--");
  one.argv.insert(one.argv.end(), command.begin(), command.end());
  return std::vector<Command>(count, one);
}

Result<size_t> remote_places(const std::string& address) {
  Command count = remote(address);
  count.argv.emplace_back("--count");
  MTMC_TRY(const Finished done, run(count));
  const std::string said(trim(done.err.substr(0, 400)));
  if (done.exit_code != 0) return Error{"using --ray " + address, said.empty() ? "no answer" : said, "", ""};
  return std::max<size_t>(1, static_cast<size_t>(std::atol(done.out.c_str())));
}

Status work_off(const std::vector<Command>& members, const std::vector<std::string>& tasks,
                const CrewListener& listener, double limit) {
  Shared shared{{}, {tasks.rbegin(), tasks.rend()}, listener, limit > 0 ? limit : kForever};
  std::vector<std::future<Status>> all;
  for (const Command& command : members)
    all.push_back(std::async(std::launch::async, [&] { return keep_at_work(command, shared); }));
  Status status = ok_status();
  for (std::future<Status>& one : all)
    if (const Status ended = one.get(); !ended.ok()) status = ended;
  return status;
}

void serve_crew(const std::function<Json(const std::string& task)>& work) {
  for (const int line : {3, 4}) fcntl(line, F_SETFD, FD_CLOEXEC);  // nothing for this member's own children
  std::ifstream requests("/proc/self/fd/3");
  std::ofstream replies("/proc/self/fd/4");
  replies << kReadyWord << "\n" << std::flush;
  for (std::string task; std::getline(requests, task);) replies << work(task).dump() << "\n" << std::flush;
}

}  // namespace mtmc
