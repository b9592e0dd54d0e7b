#include "eval/performance.h"

#include <nlohmann/json.hpp>

namespace mtmc {

namespace {

constexpr double kConductorSeconds = 60;  // what the conductor may need beyond the call's own time

// What is wrong with an answer of the conductor's: how the process died, or what its runner says against the candidate.
bool failed(const Json& told, Performance& call) {
  if (told.contains("died")) {
    call.reason = told.at("died"), call.message = told.value("detail", "");
    return true;
  }
  const Json& reply = told.at("reply");
  if (!reply.contains("fail")) return false;
  const auto text = [&](const char* key) {
    return reply.contains(key) && reply[key].is_string() ? reply[key].get<std::string>() : std::string();
  };
  call.reason = text("fail"), call.message = text("message");
  if (call.reason.empty())
    call.reason = "tampered", call.message = "the guest answered something else than it was asked for";
  return true;
}

void refuse(Performance& call, const std::string& message) { call.reason = "tampered", call.message = message; }

}  // namespace

Result<Performance> perform(JudgeProcess& conductor, TaskFacts& facts, const std::string& who, const CallPlan& plan) {
  MTMC_TRY(const Given* given, facts.given(plan.draw));
  Performance call;
  const double patience = plan.timeout_seconds + kConductorSeconds;
  Json arm = {{"form", *given->form}, {"same_addresses", plan.same_addresses},
              {"hold", plan.hold},    {"poison", plan.poison},
              {"clean", plan.clean},  {"keep", plan.keep},
              {"state", plan.state}};
  if (!plan.engine.empty()) arm["engine"] = plan.engine;
  if (plan.drop > 0) arm["drop"] = plan.drop;
  MTMC_TRY(const Json ready,
           conductor.compute({{"op", "ready"}, {"arm", arm}, {"timeout", plan.timeout_seconds}}, patience));
  if (failed(ready, call)) return call;
  call.places = std::make_shared<const Json>(ready.at("reply").at("places"));
  call.busy_ms = ready.at("busy_ms"), call.kept_ms = ready.at("kept_ms"), call.woken_ms = ready.at("woken_ms");
  MTMC_TRY(const std::string unfit, facts.fill(plan.draw, *call.places, who));
  if (!unfit.empty()) {
    refuse(call, unfit);
    return call;
  }
  Json go = {{"values", *given->values}, {"seed", nullptr}, {"late", plan.late}, {"state", plan.state}};
  if (plan.seeded) go["seed"] = given->seed;
  if (plan.gradients || plan.threads > 0) go["where"] = {{"gradients", plan.gradients}, {"threads", plan.threads}};
  Json release = {
      {"op", "release"}, {"go", std::move(go)}, {"timeout", plan.timeout_seconds}, {"most_bytes", facts.most_bytes()}};
  if (!given->fill.empty()) release["fill"] = given->fill;
  if (plan.glimpses > 0)
    release["glimpses"] = {{"most", plan.glimpses}, {"folders", plan.folders}, {"seconds", plan.glimpsed_ms / 1e3}};
  if (!plan.out.empty()) release["stay"] = true, release["written"] = plan.written;
  if (!plan.out.empty() && !given->fill.empty()) release["out"] = plan.out.string();
  MTMC_TRY(const Json told, conductor.compute(release, patience));
  if (failed(told, call)) return call;
  const Json& reply = told.at("reply");
  if (!reply.contains("ns") || !reply["ns"].is_number() || !reply.contains("results")) {
    refuse(call, "the guest answered something else than it was asked for");
    return call;
  }
  call.reply = std::make_shared<const Json>(reply);
  call.wall_ms = told.at("wall_ms"), call.inside_ms = reply["ns"].get<double>() / 1e6;
  call.processor_ms = told.at("processor_ms");
  call.own = told.value("own", 0), call.library = told.value("library", 0);
  call.modified = told.value("modified", std::vector<int>{}), call.unreadable = told.value("unreadable", "");
  return call;
}

Status proceed(JudgeProcess& conductor) {
  MTMC_TRY([[maybe_unused]] const Json reply, conductor.compute({{"op", "proceed"}}, kConductorSeconds));
  return ok_status();
}

Result<Performance> lend(JudgeProcess& conductor, TaskFacts& facts, const std::string& who, const std::string& name,
                         const Json& step, double timeout_seconds) {
  const bool is_state = name.starts_with("state-");
  const Given* given = is_state ? &facts.state(name.substr(6)) : nullptr;
  if (!is_state) {
    MTMC_TRY(given, facts.given(name));
  }
  Performance call;
  Json request = {{"op", "lend"}, {"step", step}, {"timeout", timeout_seconds}};
  request["step"][is_state ? "state" : "form"] = *given->form;
  if (!given->fill.empty())
    request["fill"] = given->fill;
  else
    request["stay"] = true;
  MTMC_TRY(const Json told, conductor.compute(request, timeout_seconds + kConductorSeconds));
  if (failed(told, call)) return call;
  call.places = std::make_shared<const Json>(told.at("reply").at("places"));
  if (!given->fill.empty()) return call;
  MTMC_TRY(const std::string unfit, facts.fill(name, *call.places, who));
  if (!unfit.empty()) refuse(call, unfit);
  MTMC_RETURN_IF_ERROR(proceed(conductor));
  return call;
}

}  // namespace mtmc
