#include "ops/window.h"

namespace mtmc {

int window_axes(const OpCall& call) {
  return call.op.find("1d") != call.op.npos ? 1 : call.op.find("3d") != call.op.npos ? 3 : 2;
}

Result<std::vector<int64_t>> spread(const OpCall& call, std::string_view attr, int axes,
                                    const std::vector<int64_t>& otherwise) {
  if (!call.attrs.has(attr)) return otherwise;
  auto list = call.attrs.list(attr);
  if (list.empty()) return otherwise;
  if (list.size() == 1) list.resize(axes, list[0]);
  if (static_cast<int>(list.size()) != axes)
    return refusal(call, std::string(attr) + " has the wrong length", std::to_string(list.size()),
                   std::to_string(axes));
  return list;
}

Result<Window> fit(const OpCall& call, Window window, bool ceil_mode) {
  for (int i = 0; i < window.axes(); ++i) {
    const int64_t stride = window.stride[i], padding = window.padding[i];
    if (stride < 1 || window.dilation[i] < 1 || window.kernel[i] < 1 || padding < 0)
      return refusal(call, "stride, dilation and kernel must be positive");
    const int64_t reach = window.dilation[i] * (window.kernel[i] - 1) + 1;
    const int64_t room = window.in[i] + 2 * padding - reach;
    if (room < 0)
      return refusal(call, "the window is larger than the padded input", std::to_string(reach),
                     "at most " + std::to_string(window.in[i] + 2 * padding));
    int64_t out = (room + (ceil_mode ? stride - 1 : 0)) / stride + 1;
    if (ceil_mode && (out - 1) * stride >= window.in[i] + padding) --out;  // the last window must start in the input
    window.out.push_back(out);
  }
  return window;
}

ExprP position(const Window& window, int which, const ExprP& out, const ExprP& inside) {
  return out * index_constant(window.stride[which]) + inside * index_constant(window.dilation[which]) -
         index_constant(window.padding[which]);
}

ExprP inside(const Window& window, int which, const ExprP& position) { return in_range(position, 0, window.in[which]); }

}  // namespace mtmc
