// A run as it happens: a line per step, and on a terminal one live line below them with a bar, the current best and the
// time left. Where the output is no terminal only the lines appear.
#pragma once
#include <cstdio>
#include <string>

namespace mtmc {

class Progress {
 public:
  // `width` columns of a terminal; 0: not a terminal.
  Progress(std::FILE* out, int width) : out_(out), width_(width) {}
  explicit Progress(std::FILE* out);  // asks the system whether `out` is a terminal, and how wide
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  void line(const std::string& text);
  // fraction of the work done in [0, 1]; seconds_left < 0: unknown; `best` such as "best 1.82x"; `doing` what runs now.
  void live(double fraction, double seconds_left, const std::string& best, const std::string& doing);
  void clear();

 private:
  std::FILE* out_;
  int width_;
  bool shown_ = false;
};

// The live line without its control characters: "[#####-----]  50 %  best 1.82x  0:12 left  judging fuse ...".
std::string live_text(int width, double fraction, double seconds_left, const std::string& best,
                      const std::string& doing);

}  // namespace mtmc
