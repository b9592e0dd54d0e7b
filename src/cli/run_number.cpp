#include "cli/run_number.h"

#include <charconv>

namespace mtmc {

Result<RunId> find_run(Store& store, const std::string& word) {
  const std::string wanted = "'last', or a number that `mtmc show` lists";
  if (word == "last") {
    MTMC_TRY(const auto runs, store.runs());
    if (runs.empty()) return Error{"finding a run", "the store has no runs", "'last'", "one run of `mtmc optimize`"};
    return runs.back().id;
  }
  RunId id = 0;
  const char* end = word.data() + word.size();
  if (const auto read = std::from_chars(word.data(), end, id); read.ec != std::errc() || read.ptr != end || id < 1)
    return Error{"finding a run", "not a run's number", "'" + word + "'", wanted};
  return id;
}

}  // namespace mtmc
