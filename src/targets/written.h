// Writes into parts of buffers, printed where they lie instead of as copies of the whole.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/program.h"
#include "targets/module_printer.h"

namespace mtmc {

// Which results of library calls are written where an operand lies, as eager writes to a part of a buffer: where the
// call replaces elements of operand 0 (OpDef::write), nobody reads afterwards what lay there, and the memory is ours
// to write to, that of another result, or a buffer's that ends with this content, or is given another one. What an
// argument, a parameter, a constant or a plain attribute may share is never written.
struct Written {
  std::map<ValueId, ValueId> homes;  // a value that lies where another one does -> the one whose name it goes by
  std::set<const Node*> writes;      // nodes that write where operand 0 lies
  std::set<const Node*> there;       // nodes whose result lies where it belongs already: nothing is left to do
  std::set<std::string> kept;        // buffers that hold their new value before forward ends
  std::set<ValueId> in_order;        // buffers that are written under another shape: only one that lies in order can be
  std::set<ValueId> shared;          // what the caller gets, or a plain attribute, that shares such a buffer's memory

  ValueId home(ValueId id) const {
    const auto found = homes.find(id);
    return found == homes.end() ? id : found->second;
  }
};

// As far as one can see without the walk through forward: will a library call of this node be written so?
bool is_likely_written(const Program& program, const Node& node);

// `made`: what is made when the file is imported.
Written written(const Program& program, const std::vector<Launch>& launches, const std::set<ValueId>& made);

}  // namespace mtmc
