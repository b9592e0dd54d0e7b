// A Python process of the judge (zygote, referee, baselines): started when first asked, asked in JSON.
#pragma once
#include <signal.h>

#include <functional>
#include <memory>
#include <string>

#include "base/json.h"
#include "base/process.h"
#include "base/result.h"

namespace mtmc {

inline constexpr const char* kUnanswered = "no answer in time";  // what is wrong then

class JudgeProcess {
 public:
  JudgeProcess(std::string name, Command command) : name_(std::move(name)), command_(std::move(command)) {}

  // Starts it when it is not running; it comes up while we do something else.
  Status start();
  // One request, one reply. An Error when the process reports the user's mistake, or when it died or gave no answer in
  // time; then it is gone, and the next call starts another. `meanwhile` is called while it works, as long as that
  // returns true.
  Result<Json> ask(const Json& request, double timeout_seconds, const std::function<bool()>& meanwhile = {});
  // Likewise, of a process that computes something for it: on a GPU that others use, too, not while they time (within a
  // turn of ours it is part of that). Its first answer waits for nobody, and nobody for it: it comes up.
  Result<Json> compute(const Json& request, double timeout_seconds);
  // The same in two halves: the process works while we do something else. Replies come in the order of the requests,
  // and all of them are received before anything is asked.
  Status send(const Json& request);
  Result<Json> receive(double timeout_seconds);
  int waiting() const { return waiting_; }  // replies that were not received yet
  // What it was asked when it was lost last; null when it never was.
  const std::shared_ptr<const Json>& lost_at() const { return lost_at_; }

  // Holds it still, with all that it started, and lets it go on. A process of its that leads a session of its own it
  // names in a reply, as `session`.
  void pause() const { signal(SIGSTOP); }
  void resume() const { signal(SIGCONT); }

  bool running() const { return process_ != nullptr; }
  pid_t pid() const { return process_ ? process_->pid() : -1; }
  void stop() { process_.reset(), answered_ = false, waiting_ = 0, session_ = -1; }

 private:
  Error lost(const std::string& why, const std::string& of = "");
  void signal(int number) const;

  std::string name_;
  Command command_;
  std::unique_ptr<LineProcess> process_;
  std::shared_ptr<const Json> lost_at_;
  bool answered_ = false;  // since it was started
  int waiting_ = 0;
  pid_t session_ = -1;
};

}  // namespace mtmc
