// One line about an attempt or a run, as `optimize` prints it while it works and `show` afterwards.
#pragma once
#include <string>
#include <vector>

#include "store/store.h"

namespace mtmc {

// "certified, 1.82x eager", "1.82x eager", "refused: wrong-result", "not applied: ...".
std::string outcome_text(const NodeRecord& node);
// "1.82x eager", "at least 1.82x eager", ...; "-" when it was not measured.
std::string speedup_text(const Verdict* verdict);
// Over every baseline for which there is a figure: "4.21x eager, at least 1.82x torch.compile"; without one for eager,
// why.
std::string gains_text(const Verdict& verdict);
// "  3  fuse linear and gelu in lines 31-47            1.82x eager".
std::string step_line(const NodeRecord& node);

}  // namespace mtmc
