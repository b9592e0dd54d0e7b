// What is tried at once when the judge has refused a step, in front of whatever the strategy would do next. To add one:
// src/search/remedies/NAME.cpp defining `extern const RemedyDef NAME_def`; a generated table finds it.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "search/environment.h"

namespace mtmc {

struct RemedyDef {
  std::string_view name, doc;
  // The step from the refused node that may be certified; none where this remedy does not know any.
  std::optional<Proposal> (*propose)(const SearchNode& refused, const ActionContext& context);
};

std::vector<const RemedyDef*> all_remedies();

}  // namespace mtmc
