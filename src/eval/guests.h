// All guests of one judge, each in a room of its own. On a GPU some stand by while another is judged: spares, which
// warm up (a context takes a third of a second), and those that compile candidates which may be judged next.
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
  // Guests to come find these modules loaded. Between the two the zygote answers nothing else.
  Status begin_import(const std::vector<std::string>& modules);
  Status finish_import();
  static constexpr size_t kSpares = 3;
  // On a GPU: spares warm up, for the guests to come, so many in all. The zygote takes a while to begin with it.
  Status add_spares(size_t most = kSpares);

  // Writes the candidate's file and says where it will live.
  Result<Room> room_for(const Candidate& candidate);
  std::filesystem::path file_of(const Candidate& candidate) const;
  // Where the keeper puts what guests returned: they cannot write there.
  std::filesystem::path results() const { return shared_ / "results"; }
  // A new guest for the candidate of that room; the one before is gone.
  Result<Guest> enter(const Room& like);

  // A guest that stands by begins to answer `requests`, so that the candidate's kernels are compiled when it is judged.
  // Not on a CPU, whose cores are what is timed.
  using Requests = std::function<Result<std::vector<Json>>(Guest&)>;
  Status prepare(const Candidate& candidate, const Requests& requests);
  // Waits until the guest that prepared the candidate has answered all, and ends it.
  Status finish(const Candidate& candidate, double timeout_seconds);
  // Waits likewise, doing something else meanwhile, and returns that guest, its candidate loaded; none where something
  // went wrong.
  Result<std::optional<Guest>> adopt(const Candidate& candidate, double timeout_seconds,
                                     const std::function<bool()>& meanwhile);
  // Another task, whose own files guests shall not see. Guests that prepared candidates end, and so do spares that
  // would see these files.
  Status forget(std::vector<std::string> hidden);
  // No task is open, and nobody stands by.
  Status rest();
  // These files of a task to come are hidden from guests that begin before it is there: spares of now do for it, too,
  // as long as the files stay what they are.
  void expect(std::vector<std::string> hidden) { hidden_soon_ = std::move(hidden); }

  // Guests that stand by are stopped while another is timed.
  Status pause();
  Status resume();

 private:
  bool on_gpu() const { return options_.device == "cuda"; }
  // Its room, and what told each file that is hidden from it from others when it began.
  struct Spare {
    Room room;
    std::map<std::string, std::string> files;
  };
  static bool is_blind_to(const Spare& spare, const std::string& file);
  Room next_room(const Room& like);
  Room vacant(const Room& like);
  Status end_spares();
  Status end(std::deque<Spare> spares);

  const JudgeOptions& options_;
  std::filesystem::path shared_;
  JudgeProcess zygote_;
  std::deque<Spare> spares_;               // the oldest first
  std::map<std::string, Guest> prepared_;  // by the candidate's hash
  std::vector<std::string> hidden_, hidden_soon_;
  bool imports_ = true;  // until what a task imports has made a context on the GPU, after which nobody can be forked
  int rooms_ = 0;
};

}  // namespace mtmc
