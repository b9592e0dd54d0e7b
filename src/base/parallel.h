// Independent pieces of work on all cores.
#pragma once
#include <cstddef>
#include <functional>

namespace mtmc {

// Calls work(0) to work(count - 1), each once and in any order, on as many threads as this process may use cores.
// Returns when all are done; the first exception that one of them threw is thrown again then.
void in_parallel(size_t count, const std::function<void(size_t)>& work);

}  // namespace mtmc
