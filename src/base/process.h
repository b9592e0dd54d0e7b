// Child processes: run to the end with limits, or keep one open and talk JSON lines with it.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace mtmc {

struct Command {
  std::vector<std::string> argv;
  std::filesystem::path directory = {};                 // empty: ours
  std::map<std::string, std::string> environment = {};  // added to ours
  double timeout_seconds = 600;
  std::vector<std::pair<int, int>> descriptors = {};  // that it gets beside its own: (ours, the child's number)
};

struct Finished {
  int exit_code = 0;       // 128 + signal number when a signal ended it
  bool timed_out = false;  // we killed its process group
  std::string out, err;    // at most 4 MiB each are kept
  double seconds = 0;
};

// For processes in which tensors are timed: freed memory stays with the process and is used again. Otherwise glibc
// gives large blocks back and takes them anew, and page faults, whose number is a matter of luck, can double a call's
// time.
const std::map<std::string, std::string>& memory_is_kept();

// Runs a command to its end in a process group of its own. An Error only when it cannot be started.
Result<Finished> run(const Command& command);

// A long-lived child that answers one JSON line on a private pipe (its file descriptors 3: requests, 4: replies) for
// each line sent.
class LineProcess {
 public:
  static Result<LineProcess> start(const Command& command);
  LineProcess(LineProcess&& other) noexcept;
  LineProcess& operator=(LineProcess&& other) noexcept;
  LineProcess(const LineProcess&) = delete;
  ~LineProcess();  // kills the group and reaps it

  Status send(const std::string& line);
  // The next line; an Error ("timed out", "closed") when none comes within `timeout_seconds`.
  Result<std::string> receive(double timeout_seconds);
  bool has_answered() const;  // is there something to receive, if only that it has ended?
  bool alive();
  // What it ended of, "exit code 1" or "signal 11 (Segmentation fault)", where it ends within a second; else empty.
  std::string ending();
  void kill();
  void signal(int number) const;  // to its whole group
  pid_t pid() const { return pid_; }

 private:
  LineProcess() = default;
  pid_t pid_ = -1;
  int to_child_ = -1, from_child_ = -1;
  std::string buffer_, ending_;
};

// Ends every child and its group, for a program that is about to exit; threads that wait for a child never return.
void kill_all_children();

// Seconds of a monotonic clock.
double now_seconds();

}  // namespace mtmc
