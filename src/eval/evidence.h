// A verdict for people: what was checked, with figures.
#pragma once
#include <string>
#include <vector>

#include "eval/verdict.h"

namespace mtmc {

// Several lines, no trailing newline. The first says certified or refused, with the reason.
std::string render_evidence(const Verdict& verdict);
// Where its time goes, a line each, the largest share first; none where nothing was profiled.
std::vector<std::string> profile_lines(const Verdict& verdict);
// Of a certified one: "as exact as fp32", or "bit for bit what eager returns".
std::string exactness(const Verdict& verdict);
// Words that a candidate may have chosen, without what would move the cursor of whoever reads them, or hide them.
std::string without_controls(std::string text);

}  // namespace mtmc
