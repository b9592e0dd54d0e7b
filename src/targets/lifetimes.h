#pragma once

#include <map>
#include <set>
#include <vector>

#include "ir/program.h"
#include "targets/module_printer.h"
#include "targets/written.h"

namespace mtmc {

// The values whose Python names a launch needs: what it reads, and what else its statements speak of.
std::set<ValueId> named_by(const Program& program, const Launch& launch);

// A node of a library call, or a launch -> the results (neither outputs nor new state) that nobody reads after it:
// their memory can go there, where eager lets it go, too. Those that share a name are one, that of their home.
std::map<const void*, std::vector<ValueId>> last_reads(const Program& program, const std::vector<Launch>& launches,
                                                       const Written& written);

}  // namespace mtmc
