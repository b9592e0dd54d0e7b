// How a run is named on the command line.
#pragma once
#include <string>

#include "base/result.h"
#include "store/store.h"

namespace mtmc {

// "12", or "last": the newest one. An Error when the word is neither, or there is no such run.
Result<RunId> find_run(Store& store, const std::string& word);

}  // namespace mtmc
