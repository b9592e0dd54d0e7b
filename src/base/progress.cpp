#include "base/progress.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/process.h"

namespace mtmc {

namespace {

constexpr int kBar = 20;
constexpr double kWorthSaying = 2;  // seconds that something takes

// At most `columns` bytes, not cutting a UTF-8 character in two.
std::string cut(std::string text, size_t columns) {
  if (text.size() <= columns) return text;
  while (columns > 0 && (static_cast<unsigned char>(text[columns]) & 0xc0) == 0x80) --columns;
  return text.substr(0, columns);
}

}  // namespace

std::string live_text(int width, double fraction, double seconds_left, const std::string& best,
                      const std::string& doing, double seconds) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() || part.empty() ? "" : "  ") + part; };
  if (fraction >= 0) {
    fraction = std::min(fraction, 1.0);
    const auto filled = static_cast<size_t>(std::lround(fraction * kBar));
    add(fmt::format("[{}{}] {:3.0f} %", std::string(filled, '#'), std::string(kBar - filled, '-'), fraction * 100));
  }
  add(best);
  if (seconds_left > 0) {
    const auto left = static_cast<long>(std::ceil(seconds_left));
    add(fmt::format("{}:{:02} left", left / 60, left % 60));
  }
  add(doing);
  const std::string since = seconds < kWorthSaying ? "" : fmt::format(" ({:.0f} s)", std::floor(seconds));
  const auto columns = static_cast<size_t>(std::max(width - 1, 0));
  if (since.size() >= columns) return cut(text, columns);
  return cut(text, columns - since.size()) + since;
}

Progress::Progress(std::FILE* out) : out_(out), width_(0) {
  winsize size = {};
  if (isatty(fileno(out)) && ioctl(fileno(out), TIOCGWINSZ, &size) == 0) width_ = std::max<int>(size.ws_col, 40);
}

Progress::~Progress() {
  clear();
  if (!clock_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ended_.notify_all();
  clock_.join();
}

void Progress::line(const std::string& text) {
  const std::lock_guard lock(mutex_);
  erase();
  fmt::print(out_, "{}\n", text);
  std::fflush(out_);
}

void Progress::live(double fraction, double seconds_left, const std::string& best, const std::string& doing) {
  if (width_ == 0) return;
  const std::lock_guard lock(mutex_);
  const double now = now_seconds();
  live_ = {fraction, seconds_left, best, doing, now, doing == live_.doing ? live_.since : now};
  show();
  if (!clock_.joinable()) clock_ = std::thread([this] { tick(); });
}

void Progress::clear() {
  const std::lock_guard lock(mutex_);
  erase();
}

void Progress::show() {
  const double now = now_seconds();
  const double left = live_.seconds_left < 0 ? -1 : std::max(live_.seconds_left - (now - live_.at), 0.0);
  fmt::print(out_, "\r\033[K{}", live_text(width_, live_.fraction, left, live_.best, live_.doing, now - live_.since));
  std::fflush(out_);
  shown_ = true;
}

void Progress::erase() {
  if (!shown_) return;
  fmt::print(out_, "\r\033[K");
  std::fflush(out_);
  shown_ = false;
}

void Progress::tick() {
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, std::chrono::seconds(1), [this] { return ending_; }))
    if (shown_) show();
}

}  // namespace mtmc
