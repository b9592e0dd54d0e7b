// One candidate in its locked room, through the zygote.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "eval/judge_process.h"

namespace mtmc {

// What the guest answered, or the reason word for which it is refused.
struct GuestReply {
  std::shared_ptr<const Json> reply;  // never null when `reason` is empty
  std::string reason, message;

  bool ok() const { return reason.empty(); }
};

struct Room {
  std::filesystem::path folder;     // the guest's own, writable, thrown away
  std::filesystem::path build;      // in it: where the candidate compiles its kernels
  std::filesystem::path inbox;      // the guest reads what we put there, and only while it is needed
  std::vector<std::string> hidden;  // files that are empty for the guest: the task's own
  size_t memory_bytes = 0;
  std::string device = "cpu";
  bool interpret = false;  // Triton's kernels are run by its interpreter
  // Where the build folder lies between a candidate's guests, when they share it: on a GPU, since compiling takes long;
  // and where weights may be frozen, since they may be kept in it for others to find.
  std::filesystem::path kept;
  // On a GPU: what Triton needs of every kernel, which only our processes write, is copied from here.
  std::filesystem::path seed;
  // Triton notes where its files lie. They are moved with the build folder: this link always leads there.
  std::filesystem::path cache;
};

inline constexpr double kZygoteSeconds = 30;  // what the zygote may need beyond the guest's own time

class Guest {
 public:
  // Forks a guest. An Error when the zygote itself fails.
  static Result<Guest> enter(JudgeProcess& zygote, const Room& room);
  // Forks a spare: the next `enter` or `stand_by` with this room finds it warmed up.
  static Status add_spare(JudgeProcess& zygote, const Room& room);
  // A guest that stands by while another is judged; `prepare` gives it work.
  static Guest stand_by(JudgeProcess& zygote, const Room& room);
  Guest(const Guest&) = delete;
  Guest(Guest&& other) noexcept
      : warm(other.warm),
        zygote_(std::exchange(other.zygote_, nullptr)),
        stands_by_(other.stands_by_),
        room_(other.room_),
        sandbox_(other.sandbox_),
        loaded_(other.loaded_),
        shown_(other.shown_) {}
  ~Guest();

  Result<GuestReply> call(const Json& request, double timeout_seconds);
  // Shows a folder of ours to the guest until it has answered the next request; returns where.
  std::string show(const std::filesystem::path& folder);
  // For a guest that stands by: all that it shall do, the last of it to load its candidate. Nobody waits for it.
  Status prepare(const std::vector<Json>& requests);
  // Waits until it has done so, or the time is up, and ends it.
  Status finish(double timeout_seconds);
  // Waits likewise, doing something else meanwhile; then it is the guest that is judged. False when it has failed, and
  // is gone.
  Result<bool> adopt(double timeout_seconds, const std::function<bool()>& meanwhile);
  // What it answered when it loaded its candidate while it stood by; null where it did not.
  const std::shared_ptr<const Json>& loaded() const { return loaded_; }
  // Has it answered a call of its candidate? The first one may compile.
  bool warm = false;
  struct Idle {
    double busy_ms = 0;  // CPU time that the guest used while it was watched with nothing to do
    int processes = 1;   // its own included
  };
  Result<Idle> idle();

  const Room& room() const { return room_; }
  std::string name() const { return room_.folder.string(); }
  JudgeProcess& conductor() { return *zygote_; }  // of its calls
  // What is known only when the candidate is: variables for it.
  Json environment() const;
  std::vector<std::string> writable() const { return writable(room_); }
  const std::string& sandbox() const { return sandbox_; }

 private:
  static std::vector<std::string> writable(const Room& room) { return {room.folder.string(), room.build.string()}; }
  static Json request(const std::string& op, const Room& room);
  static void furnish(const Room& room);
  void vacate();
  Guest(JudgeProcess& zygote, Room room) : zygote_(&zygote), room_(std::move(room)) {}
  JudgeProcess* zygote_;
  bool stands_by_ = false;
  Room room_;
  std::string sandbox_;
  std::shared_ptr<const Json> loaded_;
  int shown_ = 0;
};

}  // namespace mtmc
