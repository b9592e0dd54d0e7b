#include "eval/judge_process.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/trace.h"
#include "base/turn.h"

namespace mtmc {
namespace {

constexpr double kLeastSeconds = 1;  // to read what may have been answered long ago

}  // namespace

Status JudgeProcess::start() {
  if (process_) return ok_status();
  MTMC_TRY(LineProcess process, LineProcess::start(command_));
  process_ = std::make_unique<LineProcess>(std::move(process));
  return ok_status();
}

Error JudgeProcess::lost(const std::string& why, const std::string& of) {
  const bool never_answered = !answered_;
  stop();
  if (never_answered && why == "it has ended")
    return Error{"starting the judge's " + name_, "it ended before it answered", command_.argv[0],
                 "a Python with torch >= 2.9"};
  return Error{"asking the judge's " + name_, why, of, ""};
}

void JudgeProcess::signal(int number) const {
  if (!process_) return;
  process_->signal(number);
  if (session_ > 0) ::kill(-session_, number);
}

Result<Json> JudgeProcess::ask(const Json& request, double timeout_seconds, const std::function<bool()>& meanwhile) {
  MTMC_CHECK(waiting_ == 0, "the judge's " + name_ + " is asked before it has answered");
  const Json* relayed = request.contains("request") ? &request["request"] : &request;
  const std::string op = relayed->at("op");
  const Span span(name_ + " " + op + (op == "draw" ? " " + relayed->value("name", "") : ""));
  const Status sent = send(request);
  const double began = now_seconds();
  while (sent.ok() && meanwhile && !process_->has_answered() && meanwhile()) {
  }
  timeout_seconds = std::max(kLeastSeconds, timeout_seconds - (now_seconds() - began));
  Result<Json> reply = sent.ok() ? receive(timeout_seconds) : Result<Json>(sent.error());
  if (!running()) lost_at_ = std::make_shared<const Json>(request);
  return reply;
}

Result<Json> JudgeProcess::compute(const Json& request, double timeout_seconds) {
  const Turn turn(answered_ ? turn_file() : "", Turn::With::others);
  return ask(request, timeout_seconds);
}

Status JudgeProcess::send(const Json& request) {
  MTMC_RETURN_IF_ERROR(start());
  if (!process_->send(request.dump()).ok()) return lost("it has ended");
  ++waiting_;
  return ok_status();
}

Result<Json> JudgeProcess::receive(double timeout_seconds) {
  MTMC_CHECK(waiting_ > 0, "nothing was asked of the judge's " + name_);
  const Result<std::string> line = process_->receive(timeout_seconds);
  if (!line.ok()) return lost(line.error().wrong == "closed" ? "it has ended" : kUnanswered);
  --waiting_;
  Json reply = Json::parse(*line, nullptr, false);
  answered_ = true;
  if (!reply.is_object()) return lost("it answered something else than JSON");
  if (reply.contains("ends")) {  // of an exception that its code does not expect
    Error error = lost("it has ended", reply.value("ends", ""));
    error.ours = reply.value("bug", false);
    return error;
  }
  if (reply.contains("session")) session_ = reply["session"];
  if (reply.contains("error")) {
    const Json& e = reply["error"];
    return Error{e.value("doing", ""), e.value("wrong", ""), e.value("got", ""), e.value("wanted", "")};
  }
  return reply;
}

}  // namespace mtmc
