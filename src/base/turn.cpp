#include "base/turn.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <map>

#include "base/check.h"
#include "base/process.h"
#include "base/trace.h"

namespace mtmc {
namespace {

thread_local std::map<std::filesystem::path, Turn::With> held;
thread_local double waited = 0;

// Two bytes of the file are locked. Whoever comes passes the gate, one at a time, and waits there for the room: nobody
// enters before somebody who has waited longer to be alone.
constexpr off_t kGate = 0, kRoom = 1;

void lock(int file, off_t byte, short how) {
  struct flock wanted = {};
  wanted.l_type = how, wanted.l_whence = SEEK_SET, wanted.l_start = byte, wanted.l_len = 1;
  while (fcntl(file, F_OFD_SETLKW, &wanted) != 0) {
    if (errno == EINTR) continue;
    close(file);  // with what it holds, which others wait for
    MTMC_CHECK(false, "a part of a file can be locked");
  }
}

}  // namespace

Turn::Turn(const std::filesystem::path& file, With with) {
  if (file.empty()) return;
  const auto mine = held.find(file);
  MTMC_CHECK(mine == held.end() || mine->second == With::nobody || with == With::others,
             "who shares a turn cannot be alone in it");
  if (mine != held.end()) return;
  file_ = open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  MTMC_CHECK(file_ >= 0, "the file by which processes take turns can be opened: " + file.string());
  const Span span(with == With::nobody ? "turn alone" : "turn with others");
  const double from = now_seconds();
  lock(file_, kGate, F_WRLCK);
  lock(file_, kRoom, with == With::nobody ? F_WRLCK : F_RDLCK);
  lock(file_, kGate, F_UNLCK);
  waited += now_seconds() - from;
  name_ = file, held.emplace(file, with);
}

Turn::~Turn() {
  if (file_ < 0) return;
  close(file_);
  held.erase(name_);
}

std::filesystem::path turn_file() {
  const char* file = std::getenv("MTMC_TURN");
  return file == nullptr ? "" : file;
}

std::filesystem::path memory_file() {
  const std::filesystem::path file = turn_file();
  return file.empty() ? "" : file.string() + "-memory";
}

bool is_with_others(const std::filesystem::path& file) {
  const auto mine = held.find(file);
  return mine != held.end() && mine->second == Turn::With::others;
}

double working_seconds() { return now_seconds() - waited; }

void waited_for(double seconds) { waited += seconds; }

}  // namespace mtmc
