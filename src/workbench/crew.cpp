#include "workbench/crew.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <future>
#include <limits>
#include <map>
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
constexpr char kThen = '\t';  // between a task's name and that of the next one

// A member's task, and the one that is kept for it; empty: none is.
struct Given {
  std::string task, next;
};

// The tasks, and what may be done with them by whoever holds the lock.
struct Shared {
  std::mutex lock;
  std::vector<std::string> tasks;  // the next one last
  const CrewListener& listener;
  double limit;                             // seconds of a task
  size_t newcomers;                         // members that have had no task yet
  std::map<size_t, std::string> kept = {};  // by member

  std::optional<Given> next(size_t member, bool is_new) {
    const std::lock_guard held(lock);
    if (is_new) --newcomers;
    const std::optional<std::string> task = take(member);
    if (!task) return std::nullopt;
    if (!listener.begins(*task)) {
      tasks.clear(), kept.clear();
      return std::nullopt;
    }
    if (tasks.size() <= newcomers) return Given{*task, ""};
    const auto then = tasks.end() - 1 - static_cast<std::ptrdiff_t>(newcomers);  // they take the ones before it
    const Given given{*task, kept[member] = std::move(*then)};
    tasks.erase(then);
    return given;
  }
  void ended(const std::string& task, const Result<Json>& reply) {
    const std::lock_guard held(lock);
    listener.ended(task, reply);
  }

 private:
  // What is kept for it, else the next one, else what is kept for a member that is busy.
  std::optional<std::string> take(size_t member) {
    if (!kept.contains(member) && !tasks.empty()) {
      std::string task = std::move(tasks.back());
      tasks.pop_back();
      return task;
    }
    const auto mine = kept.contains(member) ? kept.find(member) : kept.begin();
    if (mine == kept.end()) return std::nullopt;
    std::string task = std::move(mine->second);
    kept.erase(mine);
    return task;
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

Result<Json> reply_of(LineProcess& member, const Given& given, double limit) {
  const std::string& task = given.task;
  const Status sent = member.send(given.next.empty() ? task : task + kThen + given.next);
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
Status keep_at_work(const Command& command, size_t which, Shared& shared) {
  std::optional<LineProcess> member;
  for (bool is_new = true;; is_new = false) {
    if (!member) {  // before a task is taken: one that cannot be begun takes none with it
      MTMC_TRY(LineProcess begun, begin(command));
      member.emplace(std::move(begun));
    }
    const std::optional<Given> given = shared.next(which, is_new);
    if (!given) return ok_status();
    const Result<Json> reply = reply_of(*member, *given, shared.limit);
    shared.ended(given->task, reply);
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
  Shared shared{{}, {tasks.rbegin(), tasks.rend()}, listener, limit > 0 ? limit : kForever, members.size()};
  std::vector<std::future<Status>> all;
  for (size_t i = 0; i < members.size(); ++i)
    all.push_back(std::async(std::launch::async, [&, i] { return keep_at_work(members[i], i, shared); }));
  Status status = ok_status();
  for (std::future<Status>& one : all)
    if (const Status ended = one.get(); !ended.ok()) status = ended;
  return status;
}

void serve_crew(const std::function<Json(const std::string& task, const std::string& next)>& work) {
  for (const int line : {3, 4}) fcntl(line, F_SETFD, FD_CLOEXEC);  // nothing for this member's own children
  std::ifstream requests("/proc/self/fd/3");
  std::ofstream replies("/proc/self/fd/4");
  replies << kReadyWord << "\n" << std::flush;
  for (std::string line; std::getline(requests, line);) {
    const size_t then = line.find(kThen);
    const std::string next = then == std::string::npos ? "" : line.substr(then + 1);
    replies << work(line.substr(0, then), next).dump() << "\n" << std::flush;
  }
}

}  // namespace mtmc
