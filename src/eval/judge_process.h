// A Python process of the judge (zygote, referee, baseline): started when first asked, asked in JSON.
#pragma once
#include <memory>
#include <string>

#include "base/json.h"
#include "base/process.h"
#include "base/result.h"

namespace mtmc {

class JudgeProcess {
 public:
  JudgeProcess(std::string name, Command command) : name_(std::move(name)), command_(std::move(command)) {}

  // Starts it when it is not running; it comes up while we do something else.
  Status start();
  // One request, one reply. An Error when the process reports the user's mistake, or when it died or gave no answer in
  // time; then it is gone, and the next call starts another.
  Result<Json> ask(const Json& request, double timeout_seconds);
  bool running() const { return process_ != nullptr; }
  pid_t pid() const { return process_ ? process_->pid() : -1; }
  void stop() { process_.reset(), answered_ = false; }

 private:
  Error lost(const std::string& why);

  std::string name_;
  Command command_;
  std::unique_ptr<LineProcess> process_;
  bool answered_ = false;  // since it was started
};

}  // namespace mtmc
