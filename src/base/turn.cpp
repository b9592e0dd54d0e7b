#include "base/turn.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace mtmc {

Turn::Turn(const std::filesystem::path& file) {
  if (file.empty()) return;
  lock_ = open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  while (lock_ >= 0 && flock(lock_, LOCK_EX) != 0 && errno == EINTR) {
  }
}

Turn::~Turn() {
  if (lock_ >= 0) close(lock_);
}

std::filesystem::path turn_file() {
  const char* file = std::getenv("MTMC_TURN");
  return file == nullptr ? "" : file;
}

}  // namespace mtmc
