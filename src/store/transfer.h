// A run with its attempts as JSON: what was tried on another machine, whose store nobody opens from here, is written
// into this one.
#pragma once
#include "base/json.h"
#include "base/result.h"
#include "store/store.h"

namespace mtmc {

Result<Json> run_to_json(Store& store, RunId run);
// As a further run, with numbers of this store. It is done, or interrupted and resumable where it has no conclusion. An
// Error for what run_to_json did not write; what came before the fault is kept then, as of a run that was killed.
Result<RunId> add_run(Store& store, const Json& json);

}  // namespace mtmc
