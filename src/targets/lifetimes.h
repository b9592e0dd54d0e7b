#pragma once

#include <map>
#include <vector>

#include "ir/program.h"
#include "targets/module_printer.h"

namespace mtmc {

// A node of a library call, or a launch -> the results (neither outputs nor new state) that nobody reads after it:
// their memory can go there, where eager lets it go, too.
std::map<const void*, std::vector<ValueId>> last_reads(const Program& program, const std::vector<Launch>& launches);

}  // namespace mtmc
