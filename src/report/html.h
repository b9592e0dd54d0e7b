// report.html: one self-contained page, no requests, light and dark. Sections are functions from ReportData to HTML.
#pragma once
#include <string>
#include <string_view>

#include "report/report_data.h"

namespace mtmc {

// The whole page.
std::string html_report(const ReportData& data);

// Text with everything that HTML would read as markup made harmless, in attributes too.
std::string escape_html(std::string_view text);

// The sections, each a <section> (or empty when there is nothing to show).
std::string headline_section(const ReportData& data);
std::string usage_section(const ReportData& data);
std::string tree_section(const ReportData& data);
std::string chart_section(const ReportData& data);
std::string time_section(const ReportData& data);
std::string steps_section(const ReportData& data);
std::string evidence_section(const ReportData& data);
std::string machine_section(const ReportData& data);

// A class name for a node's colour: best, good, passed, refused, none.
std::string tone(const ReportData& data, const NodeRecord& node);
std::string verdict_badge(const NodeRecord& node);

// Code with line numbers and colours; the parts that differ between two texts.
std::string code_block(std::string_view code);
std::string diff_block(std::string_view before, std::string_view after);

extern const char* const kReportStyle;
extern const char* const kReportScript;

}  // namespace mtmc
