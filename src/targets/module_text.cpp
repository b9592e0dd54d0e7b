#include "targets/module_text.h"

#include <algorithm>
#include <cctype>

namespace mtmc {

const char* const kChecks = R"PY(
def _expect(name, tensor, shape, dtype):
    """This kernel is specialised: anything but the traced shape, dtype and device is refused."""
    if tensor.shape != shape or tensor.dtype != dtype or not getattr(tensor, "is_" + _DEVICE):
        raise ValueError(f"running {_DESCRIPTION}: {name} does not fit: got {tuple(tensor.shape)} {tensor.dtype} on {tensor.device.type}, "
                         f"wanted {shape} {dtype} on {_DEVICE}")
    return tensor.contiguous()


_warned = False


def _warn_about_gradients(module):
    global _warned
    if not _warned and torch.is_grad_enabled() and any(p.requires_grad for p in module.parameters()):
        _warned = True
        warnings.warn("ModelNew computes no gradients: its outputs are detached", stacklevel=3)
)PY";

const char* const kMoved = R"PY(_moved = {}


def _on_device(tensor):
    """What is no parameter and no buffer does not move with its module: it is copied once, and again when it changed."""
    if getattr(tensor, "is_" + _DEVICE):
        return tensor
    version = None if tensor.is_inference() else tensor._version
    kept = _moved.get(id(tensor))
    if kept is None or kept[0]() is not tensor or kept[1] != version:
        forget = lambda _, key=id(tensor): _moved.pop(key, None)
        kept = _moved[id(tensor)] = (weakref.ref(tensor, forget), version, tensor.to(_DEVICE))
    return kept[2]

)PY";

std::string shape_text(const Shape& shape) {
  std::string text = "(";
  for (int64_t extent : shape) text += std::to_string(extent) + ", ";
  if (shape.size() > 1) text.resize(text.size() - 2);
  if (shape.size() == 1) text.resize(text.size() - 1);
  return text + ")";
}

std::string member(const std::string& owner, const std::string& name) {
  const auto fits = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  const bool identifier = !name.empty() && std::all_of(name.begin(), name.end(), fits) &&
                          !std::isdigit(static_cast<unsigned char>(name[0]));
  return identifier ? owner + "." + name : "getattr(" + owner + ", \"" + name + "\")";
}

}  // namespace mtmc
