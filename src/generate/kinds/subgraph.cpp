// Three to nine operators, as they stand beside each other in networks; sometimes around a residual.
#include "generate/block.h"
#include "generate/kind.h"

namespace mtmc {
namespace {

bool same_shape(const std::vector<Dim>& a, const std::vector<Dim>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].value != b[i].value) return false;
  return true;
}

bool write(ModuleText& text) {
  begin(text, text.pick(std::vector<Domain>{Domain::rows, Domain::rows, Domain::tokens, Domain::tokens, Domain::tokens,
                                            Domain::sequence, Domain::image, Domain::image, Domain::volume}));
  const std::vector<Dim> first = text.shape;
  const bool residual = text.chance(0.4);
  const std::string kept = residual ? text.local({"residual", "skip", "identity"}) : "";
  if (residual) text.statement(kept + " = " + text.var);
  const int parts = 2 + static_cast<int>(text.rng().below(3));
  for (int part = 0; part < parts; ++part) {
    if (!add_one(text, blocks_for(Role::structured, text.domain))) return false;
    for (int more = static_cast<int>(text.rng().below(3)); more > 0; --more)
      add_one(text, blocks_for(Role::pointwise, text.domain));
  }
  if (residual) {
    if (!same_shape(first, text.shape)) return false;
    text.become(text.var + " + " + kept);
    text.sign("residual");
  }
  if (text.chance(0.3)) {
    if (!add_one(text, blocks_for(Role::end, text.domain))) return false;
    if (text.chance(0.5)) add_one(text, blocks_for(Role::pointwise, text.domain));
  }
  text.eval = text.chance(0.2);
  return true;
}

}  // namespace

extern const KindDef subgraph_def;
const KindDef subgraph_def{"subgraph", "three to nine operators, some of them around a residual", 2e-5, 5e-3, write};

}  // namespace mtmc
