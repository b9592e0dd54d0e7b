#include "targets/triton/horizontal.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace mtmc::triton {
namespace {

// Guests of at most kSmall elements always join; larger ones up to 1/kShare of their host's work.
constexpr double kSmall = 1 << 20, kShare = 4;

struct Access {
  std::set<int> reads, writes;  // tensors
  double work = 0;
  bool fixed = false;  // a launch that stays by itself
};

Access access_of(const Group& group, const Frame& frame) {
  Access result;
  for (int s = frame.first; s <= frame.last; ++s) {
    const GroupStage& stage = group.stages[s];
    result.writes.insert(stage.dest);
    if (stage.peak_tensor >= 0) result.writes.insert(stage.peak_tensor);
    for (const Expr* e : loads_of(stage.stage.body)) result.reads.insert(e->tensor);
    result.work += static_cast<double>(product(stage.stage.extents()));
    result.fixed = result.fixed || stage.contraction || stage.run_if;
  }
  return result;
}

bool meet(const std::set<int>& a, const std::set<int>& b) {
  return std::any_of(a.begin(), a.end(), [&](int tensor) { return b.count(tensor) > 0; });
}

bool depends(const Access& later, const Access& earlier) {
  return meet(later.reads, earlier.writes) || meet(later.writes, earlier.writes) || meet(later.writes, earlier.reads);
}

// A name that no tensor has.
std::string unused(std::string name, const std::vector<std::string>& parameters) {
  while (std::count(parameters.begin(), parameters.end(), name)) name += "_";
  return name;
}

// What a launch's programs do, as a function of which of them it is.
std::string function_of(const TritonLaunch& launch) {
  const std::string program = unused("_program", launch.parameters);
  TritonLaunch called = launch;
  called.parameters.insert(called.parameters.begin(), program);
  called.body = replace_all(called.body, "tl.program_id(0)", program);
  return called.source(false);
}

std::string call_of(const TritonLaunch& launch, const std::string& program) {
  return launch.name + "(" + program + ", " + join(launch.parameters, ", ") + ")";
}

}  // namespace

std::vector<int> find_hosts(const Group& group, const std::vector<Frame>& frames) {
  std::vector<Access> accesses;
  for (const Frame& frame : frames) accesses.push_back(access_of(group, frame));
  std::vector<int> hosts(frames.size(), -1);
  for (size_t guest = 1; guest < frames.size(); ++guest) {
    if (accesses[guest].fixed) continue;
    for (size_t host = guest; host-- > 0 && !depends(accesses[guest], accesses[host]);) {
      const double most = std::max(kSmall, accesses[host].work / kShare);
      if (!accesses[host].fixed && hosts[host] < 0 && accesses[guest].work <= most)
        hosts[guest] = static_cast<int>(host);
    }
  }
  return hosts;
}

// One `if` a part, beside each other: a chain of them within each other takes Triton several times as long.
TritonLaunch fuse(const TritonLaunch& host, const std::vector<TritonLaunch>& guests) {
  TritonLaunch all = host;
  std::vector<TritonLaunch> parts = guests;
  parts.push_back(host);
  all.functions.clear(), all.programs = 0;
  for (const TritonLaunch& part : parts) {
    all.functions += function_of(part) + "\n\n";
    for (size_t i = 0; i < part.parameters.size(); ++i) {
      if (std::count(all.parameters.begin(), all.parameters.end(), part.parameters[i])) continue;
      all.parameters.push_back(part.parameters[i]);
      all.arguments.push_back(part.arguments[i]);
    }
    all.helpers.insert(all.helpers.end(), part.helpers.begin(), part.helpers.end());
  }
  const std::string program = unused("program", all.parameters);
  all.body = "    " + program + " = tl.program_id(0)";
  for (const TritonLaunch& part : parts) {
    const int64_t from = all.programs, to = all.programs += part.programs;
    const std::string begun = program + " >= " + std::to_string(from), open = program + " < " + std::to_string(to);
    const bool first = from == 0, last = &part == &parts.back();
    all.body += "\n    if " +
                (first  ? open
                 : last ? begun
                        : "(" + begun + ") & (" + open + ")") +
                ":\n        " + call_of(part, first ? program : program + " - " + std::to_string(from));
  }
  const auto short_name = [](const TritonLaunch& one) { return one.name.substr(one.name.find('_') + 1); };
  all.name += "_and_" + short_name(guests.front());
  if (guests.size() > 1) all.name += "_and_" + std::to_string(guests.size() - 1) + "_more";
  return all;
}

}  // namespace mtmc::triton
