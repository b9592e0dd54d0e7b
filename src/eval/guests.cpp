#include "eval/guests.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "base/tempdir.h"
#include "eval/sandbox_command.h"

namespace mtmc {
namespace {

// Tells a file from what takes its place later; empty: there is none.
std::string identity_of(const std::string& file) {
  struct stat found = {};
  if (::stat(file.c_str(), &found) != 0) return "";
  return fmt::format("{} {} {} {}", found.st_dev, found.st_ino, found.st_mtim.tv_sec, found.st_mtim.tv_nsec);
}

}  // namespace

Guests::Guests(const JudgeOptions& options, const std::filesystem::path& shared, int draws)
    : options_(options), shared_(shared), zygote_("zygote", zygote_command(options, shared, draws)) {
  for (const char* name : {"rooms", "inbox", "build", "candidates", "caches", "results"})
    std::filesystem::create_directories(shared_ / name);
}

std::filesystem::path Guests::file_of(const Candidate& candidate) const {
  return shared_ / "candidates" / short_hash(candidate.code) / "kernel.py";
}

Result<Room> Guests::room_for(const Candidate& candidate) {
  const std::string name = short_hash(candidate.code);
  Room room;
  if (on_gpu() || options_.freeze_weights) room.kept = shared_ / "build" / name, room.cache = shared_ / "caches" / name;
  room.memory_bytes = options_.memory_bytes, room.device = options_.device;
  const std::filesystem::path file = file_of(candidate);
  std::filesystem::create_directories(file.parent_path());
  MTMC_RETURN_IF_ERROR(write_file(file, candidate.code));
  return room;
}

Room Guests::next_room(const Room& like) {
  Room room = like;
  std::set<std::string> hidden(options_.hidden.begin(), options_.hidden.end());
  hidden.insert(hidden_.begin(), hidden_.end());
  hidden.insert(hidden_soon_.begin(), hidden_soon_.end());
  room.hidden.assign(hidden.begin(), hidden.end());
  room.folder = shared_ / "rooms" / std::to_string(++rooms_);
  room.inbox = shared_ / "inbox" / std::to_string(rooms_);
  remove_everything(room.folder);  // a guest in a weak sandbox may have been there before
  room.build = room.folder / "build";
  if (on_gpu()) room.seed = shared_ / "triton";
  return room;
}

Status Guests::begin_import(const std::vector<std::string>& modules) {
  if (modules.empty() || !imports_) return ok_status();
  MTMC_RETURN_IF_ERROR(end_spares());  // which would import them themselves
  return zygote_.send({{"op", "import"}, {"modules", modules}});
}

Status Guests::finish_import() {
  if (zygote_.waiting() == 0) return ok_status();
  MTMC_TRY(const Json reply, zygote_.receive(options_.load_seconds + kZygoteSeconds));
  if (reply.at("forks")) return ok_status();
  imports_ = false, spares_.clear(), prepared_.clear();
  zygote_.stop();
  return zygote_.start();
}

Status Guests::add_spares(size_t most) {
  Room any;
  any.memory_bytes = options_.memory_bytes, any.device = options_.device;
  while (on_gpu() && spares_.size() < most) {
    Spare& spare = spares_.emplace_back(next_room(any));
    for (const std::string& file : spare.room.hidden) spare.files[file] = identity_of(file);
    MTMC_RETURN_IF_ERROR(Guest::add_spare(zygote_, spare.room));
  }
  return ok_status();
}

// A file that was not there, or is another one by now, was not hidden when the spare began.
bool Guests::is_blind_to(const Spare& spare, const std::string& file) {
  const auto then = spare.files.find(file);
  return then != spare.files.end() && !then->second.empty() && then->second == identity_of(file);
}

// A spare's room, where there is one.
Room Guests::vacant(const Room& like) {
  if (!on_gpu()) return next_room(like);  // which shares no folder with another
  Room room = spares_.empty() ? next_room(like) : spares_.front().room;
  if (!spares_.empty()) spares_.pop_front();
  room.kept = like.kept, room.cache = like.cache;
  return room;
}

Result<Guest> Guests::enter(const Room& like) {
  MTMC_TRY(Guest guest, Guest::enter(zygote_, vacant(like)));
  if (spares_.empty()) MTMC_RETURN_IF_ERROR(add_spares());
  return guest;
}

Status Guests::prepare(const Candidate& candidate, const Requests& requests) {
  const std::string name = short_hash(candidate.code);
  MTMC_TRY(const Room like, room_for(candidate));
  if (!on_gpu() || prepared_.contains(name) || std::filesystem::exists(like.kept)) return ok_status();
  Guest guest = Guest::stand_by(zygote_, vacant(like));
  MTMC_TRY(const std::vector<Json> all, requests(guest));
  MTMC_RETURN_IF_ERROR(guest.prepare(all));
  prepared_.emplace(name, std::move(guest));
  return spares_.empty() ? add_spares() : ok_status();
}

Status Guests::forget(std::vector<std::string> hidden) {
  prepared_.clear();
  hidden_ = std::move(hidden);
  std::deque<Spare> before = std::exchange(spares_, {}), would_see;
  for (Spare& spare : before) {
    const bool blind = std::ranges::all_of(hidden_, [&](const std::string& file) { return is_blind_to(spare, file); });
    (blind ? spares_ : would_see).push_back(std::move(spare));
  }
  return end(std::move(would_see));
}

Status Guests::rest() {
  prepared_.clear(), hidden_.clear();
  return end_spares();
}

Status Guests::end_spares() { return end(std::exchange(spares_, {})); }

Status Guests::end(std::deque<Spare> spares) {
  Status left = ok_status();
  for (const Spare& spare : spares) {
    const Json leave = {{"op", "leave"}, {"folder", spare.room.folder.string()}, {"timeout", 0}};
    if (zygote_.running() && left.ok())
      if (const auto reply = zygote_.ask(leave, kZygoteSeconds); !reply.ok()) left = reply.error();
    remove_everything(spare.room.folder);
  }
  return left;
}

Status Guests::finish(const Candidate& candidate, double timeout_seconds) {
  auto prepared = prepared_.extract(short_hash(candidate.code));
  return prepared.empty() ? ok_status() : prepared.mapped().finish(timeout_seconds);
}

Result<std::optional<Guest>> Guests::adopt(const Candidate& candidate, double timeout_seconds,
                                           const std::function<bool()>& meanwhile) {
  std::optional<Guest> found;
  auto prepared = prepared_.extract(short_hash(candidate.code));
  if (prepared.empty()) return found;
  MTMC_TRY(const bool loaded, prepared.mapped().adopt(timeout_seconds, meanwhile));
  if (loaded) found.emplace(std::move(prepared.mapped()));
  return found;
}

Status Guests::pause() {
  if (!on_gpu()) return ok_status();
  MTMC_TRY(const Json reply, zygote_.ask({{"op", "pause"}}, kZygoteSeconds));
  return ok_status();
}

Status Guests::resume() {
  if (!on_gpu()) return ok_status();
  MTMC_TRY(const Json reply, zygote_.ask({{"op", "resume"}}, kZygoteSeconds));
  return ok_status();
}

}  // namespace mtmc
