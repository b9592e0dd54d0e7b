#include "eval/guest.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/kernel_headers.h"
#include "base/tempdir.h"

namespace mtmc {

namespace {

constexpr int64_t kFileBytes = int64_t{4}
                               << 30;  // the largest file that a guest may write: its outputs pass through one
constexpr double kStartSeconds = 60;   // until a guest answers for the first time

// Caches that tools keep in the user's home go to the candidate's own folders.
Json environment_of(const Room& room) {
  const std::string build = room.build.string();
  Json variables = {{"TRITON_INTERPRET", room.interpret ? "1" : "0"},
                    {"MTMC_KERNEL_CACHE", build},
                    {"HOME", build},
                    {"XDG_CACHE_HOME", build},
                    {"TORCH_EXTENSIONS_DIR", build + "/torch_extensions"},
                    {"TORCHINDUCTOR_CACHE_DIR", build + "/inductor"},
                    {"TORCHINDUCTOR_COMPILE_THREADS", "1"},  // no pool of processes that would outlive the call
                    {"TRITON_CACHE_DIR", build + "/triton"},
                    {"TMPDIR", room.folder.string()}};
  if (room.device == "cpu") variables["CPATH"] = kernel_include_path();
  return variables;
}

// What lies there now is kept where it is a folder, with our rights to it.
void make_own_folder(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!is_own_folder(path)) remove_everything(path);
  std::filesystem::create_directories(path, ignored);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all, std::filesystem::perm_options::add, ignored);
}

// Whether what the judge reads of a reply is there and of its type: a candidate may write to the line itself.
bool answers(const Json& reply, const std::string& op) {
  static const std::map<std::string, std::vector<std::string>> required = {
      {"load", {"weights", "claims"}},
      {"after", {"state", "random_state"}},
      {"ghost", {"kernels"}},
      {"profile", {"own_kernel_share", "library_use"}},
      {"ahead", {"kernels", "compiled_for", "failure"}}};
  if (const auto at = required.find(op); at != required.end())
    for (const std::string& key : at->second)
      if (!reply.contains(key)) return false;
  const auto all = [&](const char* key, auto fits) { return !reply.contains(key) || fits(reply[key]); };
  const auto boolean = [](const Json& one) { return one.is_boolean(); };
  const auto text = [](const Json& one) { return one.is_string(); };
  const auto number = [](const Json& one) { return one.is_number(); };
  const auto shares = [&](const Json& one) { return one.is_object() && std::all_of(one.begin(), one.end(), number); };
  if (!all("claims", boolean) || !all("kernel_shares", shares)) return false;
  for (const char* key : {"weights", "random_state", "library_use", "note", "compiled_for", "failure"})
    if (!all(key, text)) return false;
  for (const char* key : {"kernels", "launches"})
    if (!all(key, number)) return false;
  return true;
}

}  // namespace

Json Guest::request(const std::string& op, const Room& room) {
  return {{"op", op},
          {"folder", room.folder.string()},
          {"writable", writable(room)},
          {"environment", environment_of(room)},
          {"hidden", room.hidden},
          {"limits",
           {{"memory_bytes", room.memory_bytes},
            {"device", room.device},
            {"file_bytes", room.device == "cpu" ? kFileBytes : 8 * kFileBytes}}}};
}

Status Guest::add_spare(JudgeProcess& zygote, const Room& room) {
  make_own_folder(room.folder);
  make_own_folder(room.build);
  std::error_code ignored;  // without it the guest compiles what is missing itself
  if (std::filesystem::exists(room.seed, ignored))
    std::filesystem::copy(room.seed, room.build / "triton", std::filesystem::copy_options::recursive, ignored);
  MTMC_TRY(const Json reply, zygote.ask(request("spare", room), kZygoteSeconds));
  return ok_status();
}

// Whatever cannot be had of the build folder is compiled again. A candidate may have left anything there.
void Guest::furnish(const Room& room) {
  make_own_folder(room.folder);
  std::error_code ignored;
  if (!room.kept.empty() && is_own_folder(room.kept)) {
    remove_everything(room.build);
    std::filesystem::rename(room.kept, room.build, ignored);
  }
  make_own_folder(room.build);
  if (room.device == "cpu") return;
  make_own_folder(room.build / "triton");
  std::filesystem::remove(room.cache, ignored);
  std::filesystem::create_directory_symlink(room.build / "triton", room.cache, ignored);
}

Json Guest::environment() const {
  return room_.device == "cpu" ? Json::object() : Json{{"TRITON_CACHE_DIR", room_.cache.string()}};
}

Result<Guest> Guest::enter(JudgeProcess& zygote, const Room& room) {
  furnish(room);
  Guest guest(zygote, room);
  MTMC_TRY(const Json reply, zygote.ask(request("spawn", room), kZygoteSeconds + kStartSeconds));
  if (!reply.contains("reply"))
    return Error{"entering the sandbox", reply.value("detail", "the guest did not answer"), "", ""};
  guest.sandbox_ = reply.at("sandbox");
  return guest;
}

Guest Guest::stand_by(JudgeProcess& zygote, const Room& room) {
  furnish(room);
  Guest guest(zygote, room);
  guest.stands_by_ = true;
  return guest;
}

Status Guest::prepare(const std::vector<Json>& requests) {
  Json asked = request("prepare", room_);
  asked["requests"] = requests;
  MTMC_TRY(const Json reply, zygote_->ask(asked, kZygoteSeconds));
  return ok_status();
}

Status Guest::finish(double timeout_seconds) {
  const Json leave = {{"op", "leave"}, {"folder", room_.folder.string()}, {"timeout", timeout_seconds}};
  MTMC_TRY(const Json reply, std::exchange(zygote_, nullptr)->ask(leave, timeout_seconds + kZygoteSeconds));
  vacate();
  return ok_status();
}

Result<bool> Guest::adopt(double timeout_seconds, const std::function<bool()>& meanwhile) {
  JudgeProcess& zygote = *std::exchange(zygote_, nullptr);
  const Json request = {{"op", "adopt"}, {"folder", room_.folder.string()}, {"timeout", timeout_seconds}};
  MTMC_TRY(const Json answer, zygote.ask(request, timeout_seconds + kZygoteSeconds, meanwhile));
  if (!answer.contains("reply")) {
    vacate();
    return false;
  }
  zygote_ = &zygote, stands_by_ = false, sandbox_ = answer.at("sandbox");
  remove_everything(room_.inbox);
  loaded_ = std::make_shared<const Json>(answer.at("reply"));
  return answers(*loaded_, "load");
}

Guest::~Guest() {
  if (zygote_ == nullptr) return;
  if (zygote_->running()) {
    const Json end = {{"op", stands_by_ ? "leave" : "end"}, {"folder", room_.folder.string()}, {"timeout", 0}};
    const auto ended = zygote_->ask(end, kZygoteSeconds);
    if (!ended.ok()) zygote_->stop();
  }
  vacate();
}

// What the guest built is kept; the rest is only space in memory.
void Guest::vacate() {
  std::error_code ignored;  // then it is compiled again
  if (!room_.kept.empty() && is_own_folder(room_.build)) {
    remove_everything(room_.kept);
    std::filesystem::rename(room_.build, room_.kept, ignored);
  }
  remove_everything(room_.folder);
  remove_everything(room_.inbox);
}

Result<GuestReply> Guest::call(const Json& request, double timeout_seconds) {
  MTMC_TRY(Json relayed, zygote_->compute({{"op", "call"}, {"request", request}, {"timeout", timeout_seconds}},
                                          timeout_seconds + kZygoteSeconds));
  remove_everything(room_.inbox);
  GuestReply answer;
  if (relayed.contains("died")) {
    answer.reason = relayed.at("died"), answer.message = relayed.value("detail", "");
    return answer;
  }
  Json& reply = relayed.at("reply");
  if (reply.contains("fail") && reply["fail"].is_string()) {
    answer.reason = reply["fail"];
    if (reply.contains("message") && reply["message"].is_string()) answer.message = reply["message"];
  }
  if (answer.ok() && !answers(reply, request.at("op"))) {
    answer.reason = "tampered", answer.message = "the guest answered something else than it was asked for";
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
