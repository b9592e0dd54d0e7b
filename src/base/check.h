// MTMC_CHECK: our own bugs. Throws Bug, which only main catches (exit code 3).
#pragma once
#include <stdexcept>
#include <string>

namespace mtmc {

struct Bug : std::logic_error {
  using std::logic_error::logic_error;
};

[[noreturn]] void report_bug(const char* file, int line, const char* condition, const std::string& detail);

#define MTMC_CHECK(condition, detail)                                               \
  do {                                                                              \
    if (!(condition)) ::mtmc::report_bug(__FILE__, __LINE__, #condition, (detail)); \
  } while (false)

}  // namespace mtmc
