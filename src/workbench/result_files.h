// What `optimize` and `report` write about a run, made from the store alone.
#pragma once
#include "base/result.h"
#include "report/report_data.h"
#include "store/store.h"
#include "workbench/result_folder.h"

namespace mtmc {

// A run's report with the cost model's figures for its first and its best Program.
Result<ReportData> full_report(Store& store, RunId run);
Result<ResultFiles> result_files(Store& store, RunId run);

}  // namespace mtmc
