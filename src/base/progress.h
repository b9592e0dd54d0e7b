// A run as it happens: a line per step, and on a terminal one live line below them with a bar, the current best, the
// time left, what is done now and for how long. Where the output is no terminal only the lines appear.
#pragma once
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

namespace mtmc {

class Progress {
 public:
  // `width` columns of a terminal; 0: not a terminal.
  Progress(std::FILE* out, int width) : out_(out), width_(width) {}
  explicit Progress(std::FILE* out);  // asks the system whether `out` is a terminal, and how wide
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void line(const std::string& text);
  // fraction of the work done in [0, 1], < 0: unknown; seconds_left < 0: unknown; `best` such as "best 1.82x"; `doing`
  // what runs now. The clocks of the line go on until the next call.
  void live(double fraction, double seconds_left, const std::string& best, const std::string& doing);
  void clear();

 private:
  struct Live {
    double fraction = 0, seconds_left = -1;
    std::string best, doing;
    double at = 0, since = 0;  // when this was said, and when `doing` began
  };
  void show();  // both with the mutex held
  void erase();
  void tick();

  std::FILE* out_;
  int width_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool shown_ = false, ending_ = false;
  Live live_;
  std::thread clock_;  // from the first live line on
};

// The live line without its control characters: "[#####-----]  50 %  best 1.82x  0:12 left  judging fuse ... (42 s)".
// `seconds`: since when it does so.
std::string live_text(int width, double fraction, double seconds_left, const std::string& best,
                      const std::string& doing, double seconds);

}  // namespace mtmc
