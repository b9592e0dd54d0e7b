#include "actions/schedule.h"
#include "targets/frame.h"

namespace mtmc {
namespace {

// Blocking means something where data is used again (contractions, windows) or a long axis is cut (pointwise code).
Status legal(const Program& program, const Kernel& kernel, const ActionContext&) {
  if (kernel.family == Family::library)
    return refuse("tile", "a library call has no tiles", kernel.name, "a generated kernel");
  if (kernel.has("tiled")) return refuse("tile", "the kernel is tiled already", kernel.name);
  const auto group = build_group(program, kernel);
  if (!group.ok()) return group.error();
  for (const Frame& frame : build_frames(*group))
    if (!frame.shared.empty()) return ok_status();
  return refuse("tile", "no axis is shared by all stages of the kernel", kernel.name);
}

constexpr ScheduleChoice kTiled{"tile", "tiled", "", legal};

}  // namespace

namespace actions {
extern const ActionDef tile_def;
const ActionDef tile_def{.name = "tile",
                         .doc = "Partition a kernel's data into blocks that fit registers and caches.",
                         .law = "for i  becomes  for block, for i in block",
                         .in_paper = true,
                         .enumerate = enumerate_choice<kTiled>,
                         .apply = add_choice<kTiled>};
}  // namespace actions

}  // namespace mtmc
