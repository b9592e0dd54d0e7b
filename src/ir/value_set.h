// Some of a Program's values: a flag for each id, where a tree of ids would be allocated and searched node by node.
// Sets over a whole Program are made for each of hundreds of actions.
#pragma once
#include <vector>

#include "ir/program.h"

namespace mtmc {

class ValueSet {
 public:
  explicit ValueSet(const Program& program) : has_(static_cast<size_t>(program.next_id()), 0) {}
  // True where it was not there. Not for kNoValue.
  bool insert(ValueId id) {
    const size_t at = static_cast<size_t>(id);
    if (at >= has_.size()) has_.resize(at + 1, 0);
    const bool is_new = has_[at] == 0;
    has_[at] = 1;
    return is_new;
  }
  template <class Ids>
  void insert_all(const Ids& ids) {
    for (ValueId id : ids)
      if (id != kNoValue) insert(id);
  }
  bool has(ValueId id) const {
    return id != kNoValue && static_cast<size_t>(id) < has_.size() && has_[static_cast<size_t>(id)] != 0;
  }

 private:
  std::vector<char> has_;
};

}  // namespace mtmc
