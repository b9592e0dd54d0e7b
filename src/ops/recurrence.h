// Recurrent operators (LSTM, GRU, plain RNN): what one time step of one unit is, and how steps, layers and directions
// hang together. The counterpart of a Definition for operators whose result at one time is read at the next.
//
// Operands: x [steps, batch, inputs] (the first two swapped when batch_first); the initial states, each [layers *
// directions, batch, hidden]; then for every layer and direction its weights [gates * hidden, inputs of that layer],
// [gates * hidden, hidden] and, with biases, two vectors [gates * hidden]. A layer's inputs are x or the states number
// 0 of all directions of the layer below, side by side. Outputs: state 0 of the last layer at every time (shaped as x),
// then the final states.
#pragma once
#include <vector>

#include "ops/op.h"

namespace mtmc {

struct Recurrence {
  // A pre-activation of a unit: the weights' row gate * hidden + unit, times the step's input, times the unit's layer's
  // previous state 0, or both added, each with its bias.
  struct Sum {
    int gate = 0;
    bool input = true, hidden = true;
  };
  int layers = 1, directions = 1, gates = 1;
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0;
  bool batch_first = false, biases = true;
  DType dtype = DType::f32;
  std::vector<Sum> sums;
  // State i of a unit after the step, over loads without indices: tensor s < sums is sum s, tensor sums + i is the
  // state i before the step.
  std::vector<ExprP> next;

  int states() const { return static_cast<int>(next.size()); }
  int64_t inputs_of(int layer) const { return layer == 0 ? inputs : directions * hidden; }
  // The number of the operand that is weight `which` (input, hidden, their biases) of one layer and direction.
  int weight(int layer, int direction, int which) const {
    return 1 + states() + (layer * directions + direction) * (biases ? 4 : 2) + which;
  }
};

// One step of one layer and direction as stages. Operands: the step's input [batch, inputs], the states before it
// [batch, hidden], then the weights; outputs: the states after it.
Definition step_definition(const Recurrence& recurrence, int layer);
std::vector<std::optional<TensorType>> step_operands(const Recurrence& recurrence, int layer);  // their types
// All steps in double.
std::vector<std::vector<double>> evaluate(const Recurrence& recurrence,
                                          std::span<const std::vector<double>* const> operands);
Work work_of(const Recurrence& recurrence);

}  // namespace mtmc
