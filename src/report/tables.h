// Runs as text for a terminal.
#pragma once
#include <string>
#include <vector>

#include "report/report_data.h"

namespace mtmc {

// Columns padded to their widest cell (in characters, not bytes); the first row is the head. No trailing newline.
std::string table(const std::vector<std::vector<std::string>>& rows);

// One run as a log graph with node numbers, speedups and verdicts; `colour` adds ANSI codes.
std::string tree_table(const ReportData& data, bool colour);

// What differs between two runs: results, options, steps, attempts, and codes that got different verdicts.
std::string difference_table(const ReportData& a, const ReportData& b);

}  // namespace mtmc
