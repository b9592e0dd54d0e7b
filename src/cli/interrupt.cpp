#include "cli/interrupt.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <mutex>
#include <thread>

#include "base/check.h"
#include "base/process.h"
#include "base/tempdir.h"
#include "cli/verb.h"

namespace mtmc {

namespace {

int wake_up[2] = {-1, -1};
std::mutex note_mutex;
std::string note;

// Async-signal-safe: the work is done by the thread that waits at the other end of the pipe.
void on_signal(int number) {
  const char byte = static_cast<char>(number);
  [[maybe_unused]] const ssize_t written = write(wake_up[1], &byte, 1);
}

void wait_and_stop() {
  char byte = 0;
  while (read(wake_up[0], &byte, 1) != 1) {
  }
  kill_all_children();
  TempDir::remove_all();
  const std::lock_guard lock(note_mutex);
  fmt::print(stderr, "\nmtmc: stopped: interrupted{}{}\n", note.empty() ? "" : "; ", note);
  _exit(kSignalled + byte);
}

}  // namespace

void stop_on_interrupt() {
  MTMC_CHECK(pipe2(wake_up, O_CLOEXEC) == 0, "cannot make a pipe");
  std::thread(wait_and_stop).detach();
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void set_interrupt_note(const std::string& text) {
  const std::lock_guard lock(note_mutex);
  note = text;
}

}  // namespace mtmc
