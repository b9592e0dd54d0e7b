// The Python side of TritonBench's tasks: one process that forks another for each request.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/process.h"
#include "base/result.h"
#include "eval/judge.h"
#include "frontend/trace.h"

namespace mtmc {

class FunctionServer {
 public:
  // `seconds`: the most for one request.
  explicit FunctionServer(double seconds) : seconds_(seconds) {}

  // Who does what is asked: with a turn on the GPU of ours, together with others, or it takes its turns itself.
  enum class Turns { ours, its };
  // The process is started with these variables beside ours, which it keeps. An Error: the user's mistake in the task,
  // or a process that did not answer.
  Result<Json> ask(const Json& request, const std::map<std::string, std::string>& environment = {},
                   Turns turns = Turns::ours);
  Result<Traced> trace(const Task& task);

 private:
  double seconds_;
  std::optional<LineProcess> process_;
};

}  // namespace mtmc
