// result.json: the run's result for programs. Its fields are documented in docs/RESULTS.md.
#pragma once
#include "base/json.h"
#include "report/report_data.h"

namespace mtmc {

// What was not measured is null.
Json result_json(const ReportData& data);

}  // namespace mtmc
