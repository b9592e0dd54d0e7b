// Where the time goes: with MTMC_TRACE in the environment, everything that is waited for leaves a line on standard
// error: which process waited, when it began (seconds since the program's first line), how many seconds it took, and
// what it was.
#pragma once
#include <string>

namespace mtmc {

// From here to the end of the block.
class Span {
 public:
  explicit Span(std::string what);
  ~Span();
  Span(const Span&) = delete;

 private:
  std::string what_;
  double start_;
};

// A line about something else than time.
void trace_note(const std::string& text);

}  // namespace mtmc
