// A run as the search leaves it: a GELU MLP, three steps to the result, refused and failed attempts beside them.
#pragma once
#include "report/report_data.h"

namespace mtmc {

ReportData sample_report();

}  // namespace mtmc
