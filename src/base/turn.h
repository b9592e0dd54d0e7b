// What several processes use one at a time, such as a GPU: while something is timed on it nobody else computes there.
#pragma once
#include <filesystem>

namespace mtmc {

// Held from its construction, which waits for it, until its end, that of the process included. With an empty path
// nobody waits for anybody.
class Turn {
 public:
  explicit Turn(const std::filesystem::path& file);
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  int lock_ = -1;
};

// The file by which the processes that share a GPU take turns: MTMC_TURN, which whoever begins them sets. Empty: nobody
// shares it. Who compiles needs no turn, though it may make a module on the GPU first.
std::filesystem::path turn_file();

}  // namespace mtmc
