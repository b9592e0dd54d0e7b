#include "ops/recurrence.h"

#include "ops/build.h"

namespace mtmc {
std::vector<std::optional<TensorType>> step_operands(const Recurrence& r, int layer) {
  const auto type = [&](Shape shape) { return TensorType{r.dtype, std::move(shape)}; };
  std::vector<std::optional<TensorType>> operands = {type({r.batch, r.inputs_of(layer)})};
  for (int i = 0; i < r.states(); ++i) operands.push_back(type({r.batch, r.hidden}));
  operands.push_back(type({r.gates * r.hidden, r.inputs_of(layer)}));
  operands.push_back(type({r.gates * r.hidden, r.hidden}));
  for (int i = 0; i < 2 && r.biases; ++i) operands.push_back(type({r.gates * r.hidden}));
  return operands;
}

Definition step_definition(const Recurrence& r, int layer) {
  const DType inner = compute_type(r.dtype);
  const TensorType units{inner, {r.batch, r.hidden}};
  const int weights = 1 + r.states();
  const auto read = [&](int operand, Indices at) { return cast(inner, load(operand, r.dtype, std::move(at))); };
  Builder b;
  std::vector<ExprP> known;  // what the loads of `next` stand for
  for (const Recurrence::Sum& sum : r.sums) {
    const ExprP row = index_constant(sum.gate * r.hidden) + axis(1);
    ExprP total;
    const auto add = [&](int side, int operand, int64_t extent) {
      const int product = b.reduce(side == 0 ? "from_input" : "from_state", units, {extent}, Combine::sum,
                                   read(operand, {axis(0), axis(2)}) * read(weights + side, {row, axis(2)}));
      ExprP part = b.at(product, spatial(2));
      if (r.biases) part = part + read(weights + 2 + side, {row});
      total = total ? total + part : part;
    };
    if (sum.input) add(0, 0, r.inputs_of(layer));
    if (sum.hidden) add(1, 1, r.hidden);
    known.push_back(b.at(b.map("sum", units, total), spatial(2)));
  }
  for (int i = 0; i < r.states(); ++i) known.push_back(read(1 + i, spatial(2)));
  for (const ExprP& next : r.next) {
    const ExprP body = transform_loads(next, [&](const ExprP& e) { return known[e->tensor]; });
    b.output(b.map("state", units, body), r.dtype);
  }
  return b.done();
}

std::vector<std::vector<double>> evaluate(const Recurrence& r, std::span<const std::vector<double>* const> operands) {
  const int64_t each = r.batch * r.hidden, wide = r.directions * r.hidden;
  // The place of (time, sample) in x and in y, in rows.
  const auto row = [&](int64_t time, int64_t n) { return r.batch_first ? n * r.steps + time : time * r.batch + n; };
  std::vector<double> below = *operands[0];
  std::vector<std::vector<double>> finals(r.states());
  for (int layer = 0; layer < r.layers; ++layer) {
    const Definition step = step_definition(r, layer);
    const auto types = step_operands(r, layer);
    const int64_t inputs = r.inputs_of(layer);
    std::vector<double> above(static_cast<size_t>(r.steps * r.batch * wide));
    for (int direction = 0; direction < r.directions; ++direction) {
      std::vector<std::vector<double>> states(r.states());
      for (int i = 0; i < r.states(); ++i) {
        const auto start = operands[1 + i]->begin() + (layer * r.directions + direction) * each;
        states[i].assign(start, start + each);
      }
      for (int64_t s = 0; s < r.steps; ++s) {
        const int64_t time = direction == 0 ? s : r.steps - 1 - s;
        std::vector<double> x;
        for (int64_t n = 0; n < r.batch; ++n) {
          const auto start = below.begin() + row(time, n) * inputs;
          x.insert(x.end(), start, start + inputs);
        }
        std::vector<const std::vector<double>*> of_step = {&x};
        for (const auto& state : states) of_step.push_back(&state);
        for (int which = 0; which < (r.biases ? 4 : 2); ++which)
          of_step.push_back(operands[r.weight(layer, direction, which)]);
        states = evaluate(step, of_step, types);
        for (int64_t n = 0; n < r.batch; ++n)
          std::copy_n(states[0].begin() + n * r.hidden, r.hidden,
                      above.begin() + row(time, n) * wide + direction * r.hidden);
      }
      for (int i = 0; i < r.states(); ++i) finals[i].insert(finals[i].end(), states[i].begin(), states[i].end());
    }
    below = std::move(above);
  }
  std::vector<std::vector<double>> results = {std::move(below)};
  for (auto& state : finals) results.push_back(std::move(state));
  return results;
}

Work work_of(const Recurrence& r) {
  Work work;
  for (int layer = 0; layer < r.layers; ++layer) {
    const Work step = work_of(step_definition(r, layer), step_operands(r, layer));
    const double times = static_cast<double>(r.steps) * r.directions;
    work.flops += times * step.flops;
    work.special += times * step.special;
    work.contraction_flops += times * step.contraction_flops;
  }
  return work;
}

}  // namespace mtmc
