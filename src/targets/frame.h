// How a group becomes a kernel. `build_group` inlines the pointwise stages of a kernel's values into their consumers
// and leaves a short list of stages that are materialised: in memory (the kernel's outputs) or in scratch that lives as
// long as one tile.
//
// `build_frames` then finds the *shared* axes: classes of stage axes, linked by the loads between the group's stages,
// that every stage has exactly once as a spatial axis and every in-group load indexes unchanged. A kernel is a parallel
// loop over tiles of the shared axes; inside a tile the stages run one after the other over their remaining (inner)
// axes. Softmax, norms, row losses, matmul + row softmax and attention are all this one shape; a frame without shared
// axes runs as one sequential tile (or as partial results per chunk when the kernel is `split`).
//
// Contractions (a sum over products of two loads) are classified by which axes occur in which operand: both and output
// = batch, left only = M, right only = N, both and reduced = K.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/hardware.h"
#include "ir/program.h"
#include "ir/stage.h"

namespace mtmc {

struct Group;

// A tensor that a group touches. Loads in group stages name tensors by their position in Group::tensors.
struct GroupTensor {
  enum class Role { read, write, scratch };
  Role role = Role::read;
  ValueId value =
      kNoValue;  // read, write: the program's value; scratch: the value it belongs to (several scratches may share one)
  std::string name;              // an identifier for emitted code: "x", "fc1_weight", "row_max"
  TensorType type;               // logical type; dtype is the storage dtype
  std::vector<int64_t> strides;  // memory layout in elements (write and read: from the value's layout)
  bool kept = false;             // scratch that a later launch reads, whatever the stages' loads say
  int behind = -1;               // scratch that lies in memory right behind this one, which has as many elements
  bool zeros = false;            // scratch with more room than its stage fills: zeros are there, from the beginning
};

// Where an element lies in memory, in elements: the sum of index times stride.
ExprP flat_index(const std::vector<ExprP>& indices, const std::vector<int64_t>& strides);
// Whether another tensor lies right behind this one: its low part.
bool has_low_part(const Group& group, int tensor);

struct Contraction {
  std::vector<int> batch, m, n, k;  // axes of the stage
  ExprP left, right;                // body == left * right
};

// The roles of a stage's axes when it is a sum of f32 products of two different operands with both an M and an N;
// otherwise nothing.
std::optional<Contraction> classify_contraction(const Stage& stage);

struct GroupStage {
  Stage stage;     // loads refer to Group::tensors
  int dest = -1;   // the tensor it defines
  std::string op;  // the operator it came from, for names and comments
  std::string location;
  std::optional<Contraction> contraction;
  bool tf32 = false;  // eager multiplies f32 operands of this in TF32
  // Where in `dest` each element goes, when that is not its own index: an index expression per dimension, and whether
  // it is stored at all (null: always).
  std::vector<ExprP> place;
  ExprP placed;
  // Of a stage that is a launch by itself (targets/triton/layout_pass.h).
  ExprP peak_of;         // the largest value of this in each program's tile is kept in the tensor `peak_tensor`
  int peak_tensor = -1;  // null and -1: nothing is
  ExprP run_if;          // one condition for all elements: where it is false, nothing is done; null: always
  int producers = 0;     // how many of the stages before it are computed in the same launch
  // Of parts of a reduction, one for each tile of a product (targets/triton/tile_sums.h), which are its last spatial
  // axis: the axes of the product that the tile's rows walk. Empty: it is none.
  std::vector<int> tile_rows;
  // Of a stage that a product's launch computes of rows that a tile holds whole (targets/triton/whole_rows.h): each of
  // its axes over those of the product. Empty: it is none.
  std::vector<ExprP> in_tile;
};

struct Group {
  std::string name;                  // "k3_linear_gelu"
  std::vector<GroupTensor> tensors;  // reads, then writes, then scratch
  std::vector<GroupStage> stages;    // in order
};

// The stages of a set of values computed together, with `outputs` (those others need) written to memory. An Error says
// why they cannot be one kernel (an operator without a definition). Chains of views and pointwise stages are inlined; a
// stage that is expensive (exp and its like) and would be evaluated many times, or that feeds several consumers, is
// materialised in scratch.
Result<Group> build_group(const Program& program, const Kernel& kernel);

struct SharedAxis {
  int64_t extent = 1;
  std::vector<int> stage_axis;  // for stage first + i: which of its spatial axes this is, or -1 for stages that do not
                                // depend on it (computed once per tile)
};

// A parallel loop nest over tiles of the shared axes that runs stages first..last of a group.
struct Frame {
  int first = 0, last = 0;
  std::vector<SharedAxis> shared;  // outermost first; empty: one sequential tile
  int axis_of(int shared_axis, int stage) const { return shared[shared_axis].stage_axis[stage - first]; }
  // The shared axis that is axis `axis` of a stage, or -1.
  int shared_of(int stage, int axis) const;
};

// The frame of stages first..last, whatever axes they share.
Frame frame_over(const Group& group, int first, int last);
// The frames of first..first, first..first + 1 and so on up to first..last, in about the time of the last one alone.
std::vector<Frame> frames_from(const Group& group, int first, int last);

// Cuts a group into frames: each takes the longest run of stages that share an axis. Scratch read by a later frame
// lives as long as the kernel.
std::vector<Frame> build_frames(const Group& group);

// Merges neighbouring axes that every tensor walks as one ([N,C,H,W] -> [N,C,H*W]), so that loops are long.
Group collapse_axes(const Group& group);

// The family that suits a group: what its anchor stage is.
Family classify(const Group& group);
// The same of a kernel; an Error says why its values cannot be one.
Result<Family> family_of(const Program& program, const Kernel& kernel);

// Why `values` cannot be one generated kernel, or ok. Legality only: no shared axes is legal.
Status can_generate(const Program& program, const std::vector<ValueId>& values);

// Whether a kernel is one recurrent operator, with nothing but the views and constants that it reads. It has no frames:
// its family is `recurrent`, and a target prints it from ops/recurrence.h or refuses it.
bool is_recurrent(const Program& program, const Kernel& kernel);
// ok, or that this target cannot print recurrences.
Status refuse_recurrent(const Program& program, const Kernel& kernel);

}  // namespace mtmc
