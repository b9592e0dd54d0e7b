#include "search/remedy.h"

#include <iterator>

#include "search_remedies.h"

namespace mtmc {

std::vector<const RemedyDef*> all_remedies() { return {std::begin(kRemedies), std::end(kRemedies)}; }

}  // namespace mtmc
