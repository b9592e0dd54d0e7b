#include "base/turn.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/check.h"

namespace mtmc {

Turn::Turn(const std::filesystem::path& file) {
  if (file.empty()) return;
  lock_ = open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  MTMC_CHECK(lock_ >= 0, "the file by which processes take turns can be opened: " + file.string());
  while (flock(lock_, LOCK_EX) != 0) MTMC_CHECK(errno == EINTR, "a file can be locked: " + file.string());
}

Turn::~Turn() {
  if (lock_ >= 0) close(lock_);
}

std::filesystem::path turn_file() {
  const char* file = std::getenv("MTMC_TURN");
  return file == nullptr ? "" : file;
}

}  // namespace mtmc
