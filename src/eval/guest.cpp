#include "eval/guest.h"

#include <nlohmann/json.hpp>

#include "base/kernel_headers.h"

namespace mtmc {

namespace {

constexpr double kZygoteSeconds = 30;  // what the zygote may need beyond the guest's own time
constexpr int64_t kFileBytes = int64_t{4}
                               << 30;  // the largest file that a guest may write: its outputs pass through one
constexpr double kStartSeconds = 60;   // until a guest answers for the first time

// Caches that tools keep in the user's home go to the candidate's own folders.
Json environment_of(const Room& room) {
  const std::string build = room.build.string();
  return {{"TRITON_INTERPRET", room.interpret ? "1" : "0"},
          {"MTMC_KERNEL_CACHE", build},
          {"HOME", build},
          {"XDG_CACHE_HOME", build},
          {"TORCH_EXTENSIONS_DIR", build + "/torch_extensions"},
          {"TORCHINDUCTOR_CACHE_DIR", build + "/inductor"},
          {"TORCHINDUCTOR_COMPILE_THREADS", "1"},  // no pool of processes that would outlive the call
          {"TRITON_CACHE_DIR", build + "/triton"},
          {"TMPDIR", room.folder.string()},
          {"CPATH", kernel_include_path()}};
}

}  // namespace

Json Guest::request(const std::string& op, const Room& room) {
  return {{"op", op},
          {"folder", room.folder.string()},
          {"writable", writable(room)},
          {"environment", environment_of(room)},
          {"limits",
           {{"memory_bytes", room.memory_bytes},
            {"device", room.device},
            {"file_bytes", room.device == "cpu" ? kFileBytes : 8 * kFileBytes}}}};
}

Status Guest::prepare(JudgeProcess& zygote, const Room& room) {
  std::filesystem::create_directories(room.folder);
  std::filesystem::create_directories(room.build);
  std::error_code ignored;  // without it the guest compiles what is missing itself
  if (std::filesystem::exists(room.seed, ignored))
    std::filesystem::copy(room.seed, room.build / "triton", std::filesystem::copy_options::recursive, ignored);
  MTMC_TRY(const Json reply, zygote.ask(request("prepare", room), kZygoteSeconds));
  return ok_status();
}

Result<Guest> Guest::enter(JudgeProcess& zygote, const Room& room) {
  std::filesystem::create_directories(room.folder);
  std::error_code ignored;  // then it compiles again
  if (!room.kept.empty() && std::filesystem::exists(room.kept, ignored)) {
    std::filesystem::remove_all(room.build, ignored);
    std::filesystem::rename(room.kept, room.build, ignored);
  }
  std::filesystem::create_directories(room.build);
  Guest guest(zygote, room);
  MTMC_TRY(const Json reply, zygote.ask(request("spawn", room), kZygoteSeconds + kStartSeconds));
  if (!reply.contains("reply"))
    return Error{"entering the sandbox", reply.value("detail", "the guest did not answer"), "", ""};
  guest.sandbox_ = reply.at("sandbox");
  return guest;
}

Guest::~Guest() {
  if (zygote_ == nullptr) return;
  if (zygote_->running()) {
    const auto ended = zygote_->ask({{"op", "end"}}, kZygoteSeconds);
    if (!ended.ok()) zygote_->stop();
  }
  if (room_.kept.empty()) return;
  std::error_code ignored;  // then it is compiled again
  std::filesystem::create_directories(room_.kept.parent_path(), ignored);
  std::filesystem::rename(room_.build, room_.kept, ignored);
}

Status Guest::settle() {
  if (room_.device == "cpu") return ok_status();
  MTMC_TRY(const Json reply, zygote_->ask({{"op", "settle"}}, kZygoteSeconds + kStartSeconds));
  return ok_status();
}

Result<Answer> Guest::call(const Json& request, double timeout_seconds) {
  MTMC_TRY(Json relayed, zygote_->ask({{"op", "call"}, {"request", request}, {"timeout", timeout_seconds}},
                                      timeout_seconds + kZygoteSeconds));
  std::filesystem::remove_all(room_.inbox);
  Answer answer;
  if (relayed.contains("died")) {
    answer.reason = relayed.at("died"), answer.message = relayed.value("detail", "");
    return answer;
  }
  answer.wall_ms = relayed.at("wall_ms"), answer.ping_ms = relayed.value("ping_ms", 0.0);
  Json& reply = relayed.at("reply");
  if (reply.contains("fail") && reply["fail"].is_string()) {
    answer.reason = reply["fail"], answer.message = reply.value("message", "");
  }
  answer.reply = std::make_shared<const Json>(std::move(reply));
  return answer;
}

// Hard links, so that nothing is copied; the folder they lie in is not writable for the guest.
std::string Guest::show(const std::filesystem::path& folder) {
  const std::filesystem::path place = room_.inbox / std::to_string(++shown_);
  std::filesystem::create_directories(place);
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.is_regular_file()) std::filesystem::create_hard_link(file.path(), place / file.path().filename());
  }
  return place.string();
}

Result<Guest::Idle> Guest::idle() {
  MTMC_TRY(const Json reply, zygote_->ask({{"op", "quiet"}}, kZygoteSeconds));
  return Idle{reply.value("busy_ms", 0.0), reply.value("processes", 1)};
}

}  // namespace mtmc
