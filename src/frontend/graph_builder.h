// Builds the graph of a Program call by call, by the traced names of values.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "ir/program.h"

namespace mtmc {

class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name) { program_.name = std::move(name); }

  // {name, kind, target, type, values?}
  void add_leaf(const Json& leaf);
  // {op, args, call, operands, outputs, several, at}
  void add_call(const Json& call);
  void add_output(const std::string& name);
  // `returned`: torch hands out the new value's own memory, too.
  void add_state(const std::string& target, const std::string& name, bool returned);
  // The graph without what nobody needs, numbered afresh, one library kernel per node.
  Program finish() &&;

 private:
  struct Known {
    ValueId id = kNoValue;
    bool fresh = false;     // in torch it shares no memory with an input, parameter or buffer
    bool strided = false;   // in torch its elements do not lie one after the other
    bool packed = false;    // a copy of such a value that does; the Program has the value itself
    bool in_order = false;  // computed of such a copy element by element: in torch it lies in order, too
  };

  const Known& known(const std::string& name) const;
  // What follows the layout of its operands reads those copies that the module makes: attention is as fast as they lie,
  // with its channels last a batch norm rounds otherwise, and a call whose text has more calls in it may need the
  // order.
  void pack_operands(const Json& call);
  bool add_operator(const Json& call);
  void add_library(const Json& call);
  void bind(const Json& call, const std::vector<ValueId>& ids);
  // Does it lay the elements of a strided value one after the other, or view what was laid so?
  bool packs(const Json& call) const;
  // Does it compute something element by element of what was laid so, or view that?
  bool is_in_order(const Json& call) const;
  bool copies(const Node& node) const;  // a view that has to copy what is strided: another shape, but for ones
  // The operand when the node is only a copy of it, else the value itself.
  ValueId without_copies(ValueId id) const;
  bool is_view_of_leaf(ValueId id) const;
  ValueId copy_of(ValueId id);

  Program program_;
  std::map<std::string, Known, std::less<>> known_;
  std::set<ValueId> kept_;  // new values of plain attributes, which no caller may have
};

}  // namespace mtmc
