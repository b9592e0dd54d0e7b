// Regions of free code: where an action may be applied to code that has no Program, found in its text alone. See
// docs/SOURCE.md.
#pragma once
#include <string>
#include <vector>

#include "base/lines.h"
#include "base/result.h"
#include "source/syntax.h"

namespace mtmc {

struct SourceRegion {
  std::string action;            // "fuse"
  std::string label;             // in words: "linear and gelu", "the loop over k in kernel matmul_kernel"
  std::vector<LineRange> lines;  // its places, ascending: a producer's and its consumer's

  LineRange span() const;  // from the first line to the last one
  // As people and policies read it: "fuse linear and gelu in lines 31-47".
  std::string text() const;
  // The same as one word, to tell actions of one type apart (Action::detail): "linear_and_gelu_in_lines_31-47".
  std::string word() const;
};

// The types of action that have regions in free code, in the order in which regions come.
extern const std::vector<std::string> kRegionActions;  // fuse, lower, tile, pipeline, reorder, capture

// At most `most` regions of each type (the first ones), type by type in that order, within a type by their first line,
// then their last. Of a kernel file in Python (with the C++ and CUDA in its strings) or of a .cu text. An Error: no
// syntax tree can be made (too long, or this program was built without tree-sitter), or there is nothing in the text
// that can be read as code.
Result<std::vector<SourceRegion>> regions_of(const std::string& code, Language language = Language::python,
                                             size_t most = 24);

}  // namespace mtmc
