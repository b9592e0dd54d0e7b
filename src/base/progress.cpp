#include "base/progress.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace mtmc {

namespace {

constexpr int kBar = 20;

// At most `columns` bytes, not cutting a UTF-8 character in two.
std::string cut(std::string text, size_t columns) {
  if (text.size() <= columns) return text;
  while (columns > 0 && (static_cast<unsigned char>(text[columns]) & 0xc0) == 0x80) --columns;
  return text.substr(0, columns);
}

}  // namespace

std::string live_text(int width, double fraction, double seconds_left, const std::string& best,
                      const std::string& doing) {
  fraction = std::clamp(fraction, 0.0, 1.0);
  const auto filled = static_cast<size_t>(std::lround(fraction * kBar));
  std::string text =
      fmt::format("[{}{}] {:3.0f} %", std::string(filled, '#'), std::string(kBar - filled, '-'), fraction * 100);
  if (!best.empty()) text += "  " + best;
  if (seconds_left >= 0) {
    const auto seconds = static_cast<long>(std::ceil(seconds_left));
    text += fmt::format("  {}:{:02} left", seconds / 60, seconds % 60);
  }
  if (!doing.empty()) text += "  " + doing;
  return cut(text, static_cast<size_t>(std::max(width - 1, 0)));
}

Progress::Progress(std::FILE* out) : out_(out), width_(0) {
  winsize size = {};
  if (isatty(fileno(out)) && ioctl(fileno(out), TIOCGWINSZ, &size) == 0) width_ = std::max<int>(size.ws_col, 40);
}

void Progress::line(const std::string& text) {
  clear();
  fmt::print(out_, "{}\n", text);
  std::fflush(out_);
}

void Progress::live(double fraction, double seconds_left, const std::string& best, const std::string& doing) {
  if (width_ == 0) return;
  fmt::print(out_, "\r\033[K{}", live_text(width_, fraction, seconds_left, best, doing));
  std::fflush(out_);
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  fmt::print(out_, "\r\033[K");
  std::fflush(out_);
  shown_ = false;
}

}  // namespace mtmc
