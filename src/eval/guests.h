// All guests of one judge: whoever enters gets a room of its own. On a GPU the next ones make themselves ready (a
// context takes a third of a second) while one works, and candidates that will be judged soon are compiled by guests
// that do nothing else.
#pragma once
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "eval/guest.h"
#include "eval/process_judge.h"

namespace mtmc {

class Guests {
 public:
  // `shared`: the one folder that guests see and may, in part, write to. Both must outlive the guests.
  // `draws`: a descriptor of the folder of all tasks, which guests cannot reach.
  Guests(const JudgeOptions& options, const std::filesystem::path& shared, int draws);

  // The zygote comes up.
  Status start() { return zygote_.start(); }
  bool running() const { return zygote_.running(); }
  void stop() { zygote_.stop(); }
  // On a GPU: the next guests make themselves ready. The zygote takes a while to begin with it.
  Status prepare();

  // Writes the candidate's file and says where it will live.
  Result<Room> room_for(const Candidate& candidate);
  std::filesystem::path file_of(const Candidate& candidate) const;
  // Where the keeper puts what guests returned: they cannot write there.
  std::filesystem::path results() const { return shared_ / "results"; }
  // A new guest for it; the one before is gone.
  Result<Guest> enter(const Room& like);

  // Begins to answer requests in a guest apart, so that the candidate's kernels are compiled when it is judged. Not on
  // a CPU, whose cores are what is timed.
  using Requests = std::function<Result<std::vector<Json>>(Guest&)>;
  Status begin(const Candidate& candidate, const Requests& requests);
  // Waits until what was begun for the candidate has ended.
  Status finish(const Candidate& candidate, double timeout_seconds);
  // The same; and where nothing went wrong, the guest in which it was begun, its candidate loaded.
  Result<std::optional<Guest>> adopt(const Candidate& candidate, double timeout_seconds);
  // Another task, whose own files guests shall not see: all that was begun ends.
  void forget(std::vector<std::string> hidden) { begun_.clear(), hidden_ = std::move(hidden); }

  // Guests that are not being judged stand still while one is timed.
  Status pause();
  Status resume();

 private:
  bool on_gpu() const { return options_.device == "cuda"; }
  Room next_room(const Room& like);
  Room vacant(const Room& like);

  const JudgeOptions& options_;
  std::filesystem::path shared_;
  JudgeProcess zygote_;
  std::deque<Room> spares_;             // of guests that were prepared, the oldest first
  std::map<std::string, Guest> begun_;  // by the candidate's hash
  std::vector<std::string> hidden_;
  int rooms_ = 0;
};

}  // namespace mtmc
