// Edits that several action types share: finding kernels, merging them, putting kernels in order again.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "actions/action.h"
#include "ir/links.h"

namespace mtmc {

// The kernel that computes exactly these values. An Error refuses an action of the type.
Result<Kernel*> kernel_of(std::string_view type, Program& program, const std::vector<ValueId>& region);
// A kernel that only renames memory: views of something, run by torch for nothing.
bool is_view_kernel(const Links& links, const Kernel& kernel);
// A kernel without operands: a constant made in place.
bool is_constant_kernel(const Links& links, const Kernel& kernel);

// What two kernels must share to be one place of an isomorphism class: operators, attributes, types, wiring and
// choices. A kernel without a name stands for values of several: then nothing is said of what it writes.
std::string isomorphism_key(const Links& links, const Kernel& kernel);
// What decides whether these kernels (by position) can be merged, or one of them be changed: all that they compute, and
// the views and constants that would join them, to the last number.
std::string exact_key(const Links& links, const std::vector<int>& kernels);
// Groups kernels (of those `wanted`) into classes, in order of first appearance. Of kernels that are exactly alike one
// is asked about.
std::vector<std::vector<const Kernel*>> isomorphism_classes(
    const Program& program, const std::function<bool(const Program&, const Kernel&)>& wanted);
// One action for each class and, where a class has several places, one for each place too.
std::vector<Action> one_per_class(const Program& program, std::string_view type,
                                  const std::vector<std::vector<const Kernel*>>& classes,
                                  const std::string& detail = {});

// A kernel that has become another: nothing was measured of it.
void forget_numbers(Kernel& kernel, const TargetDef& target);
// Gives a new kernel its family and the choices that it begins with on the target and its hardware, and no numbers. An
// Error says why the target cannot print it.
Status settle_kernel(const Program& program, Kernel& kernel, const ActionContext& context);

// Merges kernels into one generated kernel, with the views and constants between and before them. An Error when another
// kernel stands between them in the data flow or a value has no definition. The new kernel keeps the name of the first.
Result<Program> merge_kernels(const Program& program, const std::vector<std::string>& names,
                              const ActionContext& context);
// Puts kernels in an order that respects data flow, staying as close to the present one as it can. False when there is
// none.
bool order_kernels(Program& program);
// What becomes of captures when other kernels take the place of some: a graph of the whole call goes on to be one;
// captures of some kernels are dropped where they no longer name consecutive ones of ours.
void carry_captures(const Program& before, Program& after, const ActionContext& context);

// An action that adds one choice to a kernel's schedule. `legal` says where it means something; the target says whether
// it would print anything else with it.
struct ScheduleChoice {
  std::string_view action, key, word;  // "tile", "tiled", ""
  Status (*legal)(const Program&, const Kernel&, const ActionContext&);
};
std::vector<Action> enumerate_choice(const Program& program, const ScheduleChoice& choice,
                                     const ActionContext& context);
Result<Program> add_choice(const Program& program, const Action& action, const ScheduleChoice& choice,
                           const ActionContext& context);
// An action type that adds no other choice: what its ActionDef has for `enumerate` and `apply`.
template <const ScheduleChoice& choice>
std::vector<Action> enumerate_choice(const Program& program, const ActionContext& context) {
  return enumerate_choice(program, choice, context);
}
template <const ScheduleChoice& choice>
Result<Program> add_choice(const Program& program, const Action& action, const ActionContext& context) {
  return add_choice(program, action, choice, context);
}

Error refuse(std::string_view type, std::string wrong, std::string got = {}, std::string wanted = {});

}  // namespace mtmc
