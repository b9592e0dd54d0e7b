// Independent pieces of work on all cores.
#pragma once
#include <cstddef>
#include <functional>

namespace mtmc {

// Calls work(0) to work(count - 1), each once and in any order, on as many threads as this process may use cores. A
// thread in which it throws takes no more; the exception is thrown again here, once all threads have ended. Within
// work that several threads share it is one thread, the piece's own.
void in_parallel(size_t count, const std::function<void(size_t)>& work);

}  // namespace mtmc
