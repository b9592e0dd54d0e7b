// One structured operator with something beside it, element by element.
#include "generate/block.h"
#include "generate/kind.h"

namespace mtmc {
namespace {

bool write(ModuleText& text) {
  begin(text, text.pick(std::vector<Domain>{Domain::rows, Domain::rows, Domain::tokens, Domain::tokens,
                                            Domain::sequence, Domain::image, Domain::image, Domain::volume}));
  const bool before = text.chance(0.4), after = !before || text.chance(0.4);
  if (before) add_one(text, blocks_for(Role::pointwise, text.domain));
  const Role role = text.chance(0.3) ? Role::end : Role::structured;
  if (!add_one(text, blocks_for(role, text.domain))) return false;
  if (after) add_one(text, blocks_for(Role::pointwise, text.domain));
  return true;
}

}  // namespace

extern const KindDef operator_def;
const KindDef operator_def{"operator", "one structured operator with something element by element beside it", 1e-5,
                           3e-3, write};

}  // namespace mtmc
