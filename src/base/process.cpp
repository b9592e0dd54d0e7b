#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <mutex>
#include <set>

#include "base/trace.h"

namespace mtmc {

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

namespace {

// The groups that are alive, so that an interrupt can end them.
std::mutex children_mutex;
std::set<pid_t> children;
std::atomic<bool> stopping = false;

void remember(pid_t pid) {
  const std::lock_guard lock(children_mutex);
  children.insert(pid);
  if (stopping) ::kill(-pid, SIGKILL);
}

void forget(pid_t pid) {
  const std::lock_guard lock(children_mutex);
  children.erase(pid);
}

// Once kill_all_children has begun, no caller may take the death of its child for a result.
void wait_if_stopping() {
  while (stopping) pause();
}

constexpr size_t kKeep = size_t(4) << 20;

struct Pipe {
  int read = -1, write = -1;
};

Result<Pipe> make_pipe() {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return Error{"starting a process", std::strerror(errno), "", ""};
  return Pipe{fds[0], fds[1]};
}

void close_fd(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

// Forks and executes; `wiring` lists (our descriptor, the child's number). The child leads a session of its own: Linux
// divides the processors by sessions first, and what is compared must get equal shares. It dies with the thread that
// started it, however that ends.
Result<pid_t> spawn(const Command& command, const std::vector<std::pair<int, int>>& wiring) {
  MTMC_CHECK(!command.argv.empty(), "a command without words");
  std::vector<char*> argv;
  for (const std::string& word : command.argv) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  MTMC_TRY(Pipe failure, make_pipe());
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) {
    const std::string reason = std::strerror(errno);
    close_fd(failure.read), close_fd(failure.write);
    return Error{"starting " + command.argv[0], reason, "", ""};
  }
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);  // it was faster
    setsid();
    // First above all targets, so that no dup2 overwrites a descriptor that is still needed.
    std::vector<std::pair<int, int>> moved;
    for (const auto* all : {&wiring, &command.descriptors})
      for (const auto& [from, to] : *all) moved.emplace_back(fcntl(from, F_DUPFD_CLOEXEC, 64), to);
    const int report = fcntl(failure.write, F_DUPFD_CLOEXEC, 64);
    for (const auto& [from, to] : moved) dup2(from, to);
    for (const auto& [name, value] : command.environment) setenv(name.c_str(), value.c_str(), 1);
    if (command.directory.empty() || chdir(command.directory.c_str()) == 0) execvp(argv[0], argv.data());
    const int code = errno;
    [[maybe_unused]] const ssize_t written = write(report, &code, sizeof code);
    _exit(127);
  }
  close_fd(failure.write);
  int code = 0;
  const ssize_t got = read(failure.read, &code, sizeof code);
  close_fd(failure.read);
  if (got == sizeof code) {
    waitpid(pid, nullptr, 0);
    return Error{"starting " + command.argv[0], std::strerror(code), "", ""};
  }
  remember(pid);  // by now it leads its group
  return pid;
}

std::string ending_of(int status) {
  if (!WIFSIGNALED(status)) return "exit code " + std::to_string(WEXITSTATUS(status));
  return "signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")";
}

int exit_code_of(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

void read_some(int& fd, std::string& text) {
  char buffer[65536];
  const ssize_t got = read(fd, buffer, sizeof buffer);
  if (got <= 0) {
    close_fd(fd);
  } else if (text.size() < kKeep) {
    text.append(buffer, static_cast<size_t>(got));
  }
}

}  // namespace

const std::map<std::string, std::string>& memory_is_kept() {
  static const std::map<std::string, std::string> variables = {
      {"MALLOC_MMAP_MAX_", "0"}, {"MALLOC_TRIM_THRESHOLD_", "68719476736"}, {"MALLOC_TOP_PAD_", "67108864"}};
  return variables;
}

Result<Finished> run(const Command& command) {
  MTMC_TRY(Pipe out, make_pipe());
  MTMC_TRY(Pipe err, make_pipe());
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const Span span(command.argv.size() > 2 ? command.argv[2] : command.argv[0]);
  const double start = now_seconds();
  auto spawned = spawn(command, {{null, 0}, {out.write, 1}, {err.write, 2}});
  close(null);
  close_fd(out.write), close_fd(err.write);
  if (!spawned.ok()) {
    close_fd(out.read), close_fd(err.read);
    return spawned.error();
  }
  Finished result;
  int status = 0;
  bool reaped = false;
  while (out.read >= 0 || err.read >= 0) {
    const double left = start + command.timeout_seconds - now_seconds();
    if (left <= 0) {
      result.timed_out = true;
      ::kill(-*spawned, SIGKILL);
      break;
    }
    pollfd fds[2] = {{out.read, POLLIN, 0}, {err.read, POLLIN, 0}};
    const int ready = poll(fds, 2, static_cast<int>(std::min(left, 0.2) * 1000) + 1);
    if (ready > 0 && fds[0].revents) read_some(out.read, result.out);
    if (ready > 0 && fds[1].revents) read_some(err.read, result.err);
    // A grandchild may hold the pipes open after the command itself has ended.
    if (ready == 0 && !reaped && waitpid(*spawned, &status, WNOHANG) == *spawned) reaped = true;
    if (ready == 0 && reaped) break;
  }
  close_fd(out.read), close_fd(err.read);
  while (!reaped) {
    if (waitpid(*spawned, &status, WNOHANG) == *spawned) break;
    if (!result.timed_out && now_seconds() > start + command.timeout_seconds) {
      result.timed_out = true;
      ::kill(-*spawned, SIGKILL);
    }
    usleep(500);
  }
  ::kill(-*spawned, SIGKILL);
  forget(*spawned);
  wait_if_stopping();
  result.exit_code = exit_code_of(status);
  result.seconds = now_seconds() - start;
  return result;
}

Result<LineProcess> LineProcess::start(const Command& command) {
  ::signal(SIGPIPE, SIG_IGN);
  MTMC_TRY(Pipe requests, make_pipe());
  MTMC_TRY(Pipe replies, make_pipe());
  auto spawned = spawn(command, {{requests.read, 3}, {replies.write, 4}});
  close_fd(requests.read), close_fd(replies.write);
  if (!spawned.ok()) {
    close_fd(requests.write), close_fd(replies.read);
    return spawned.error();
  }
  LineProcess process;
  process.pid_ = *spawned;
  process.to_child_ = requests.write;
  process.from_child_ = replies.read;
  return process;
}

LineProcess::LineProcess(LineProcess&& other) noexcept { *this = std::move(other); }

LineProcess& LineProcess::operator=(LineProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(to_child_, other.to_child_);
  std::swap(from_child_, other.from_child_);
  std::swap(buffer_, other.buffer_);
  std::swap(ending_, other.ending_);
  return *this;
}

LineProcess::~LineProcess() {
  close_fd(to_child_);
  kill();
  close_fd(from_child_);
}

Status LineProcess::send(const std::string& line) {
  std::string text = line + "\n";
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = write(to_child_, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    wait_if_stopping();
    if (wrote < 0) return Error{"talking to a child process", "closed", std::strerror(errno), ""};
    done += static_cast<size_t>(wrote);
  }
  return ok_status();
}

Result<std::string> LineProcess::receive(double timeout_seconds) {
  const auto failed = [](const char* wrong) { return Error{"waiting for a child process", wrong, "", ""}; };
  const double deadline = now_seconds() + timeout_seconds;
  while (true) {
    const size_t end = buffer_.find('\n');
    if (end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    const double left = deadline - now_seconds();
    if (left <= 0) return failed("timed out");
    pollfd fd = {from_child_, POLLIN, 0};
    if (poll(&fd, 1, static_cast<int>(std::min(left, 0.5) * 1000) + 1) <= 0) {
      // A dead child's own children may hold its pipe open: nothing more will come.
      if (alive()) continue;
      return failed("closed");
    }
    char buffer[65536];
    const ssize_t got = read(from_child_, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    wait_if_stopping();
    if (got <= 0) return failed("closed");
    buffer_.append(buffer, static_cast<size_t>(got));
  }
}

bool LineProcess::has_answered() const {
  pollfd fd = {from_child_, POLLIN, 0};
  return buffer_.find('\n') != std::string::npos || poll(&fd, 1, 0) != 0;  // an error is news, too
}

bool LineProcess::alive() {
  int status = 0;
  if (pid_ > 0 && waitpid(pid_, &status, WNOHANG) == pid_) {
    ending_ = ending_of(status);
    ::kill(-pid_, SIGKILL);  // what it left behind in its group
    forget(pid_);
    wait_if_stopping();
    pid_ = -1;
  }
  return pid_ > 0;
}

std::string LineProcess::ending() {
  for (const double until = now_seconds() + 1; alive() && now_seconds() < until;) usleep(500);
  return ending_;
}

void LineProcess::kill() {
  if (pid_ <= 0) return;
  ::kill(-pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  forget(pid_);
  pid_ = -1;
}

void LineProcess::signal(int number) const {
  if (pid_ > 0) ::kill(-pid_, number);
}

void kill_all_children() {
  stopping = true;
  const std::lock_guard lock(children_mutex);
  for (const pid_t pid : children) ::kill(-pid, SIGKILL);
}

}  // namespace mtmc
