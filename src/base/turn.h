// What several processes use beside each other, such as a GPU: they compute there together, and while one of them times
// something it is alone.
#pragma once
#include <filesystem>

namespace mtmc {

// Held from its construction, which waits for it, until its end, that of the process included. Whoever wants to be
// alone waits for those who are at it, and all others wait for it. Within a turn of the same thread another with the
// same file is nothing (but who is there together cannot be alone). With an empty path nobody waits for anybody.
class Turn {
 public:
  enum class With { nobody, others };
  Turn(const std::filesystem::path& file, With with);
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  int file_ = -1;
  std::filesystem::path name_;
};

// The file by which the processes that share a GPU take turns: MTMC_TURN, which whoever begins them sets. Empty: nobody
// shares it. What may compile takes no turn, since others would wait for seconds: a process that comes up, a guest or a
// trial that loads a candidate and makes its first call. That may disturb a clock by a call's length. Torch's compiler
// says when it is at work, and takes its turns where it times (python/mtmc/rivals/inductor.py). The referee takes its
// own where it opens a task, but not while the module is built.
std::filesystem::path turn_file();

// The file by which they share its memory, a task at a time: who needs most of it is alone. Empty as above.
std::filesystem::path memory_file();

// Has this thread a turn there with others?
bool is_with_others(const std::filesystem::path& file);

// Seconds of a monotonic clock that stands while this thread waits for a turn.
double working_seconds();

// A process of ours has waited so long for its turn, and this thread for it.
void waited_for(double seconds);

}  // namespace mtmc
