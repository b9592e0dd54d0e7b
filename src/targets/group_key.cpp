#include <type_traits>
#include <unordered_map>

#include "targets/frame.h"

namespace mtmc {
namespace {

// All of a group, byte by byte: equal keys, equal groups.
class Key {
 public:
  explicit Key(const Group& group) {
    add(group.name), add(group.tensors.size());
    for (const GroupTensor& tensor : group.tensors) {
      add(tensor.role), add(tensor.value), add(tensor.name), add(tensor.type), add(tensor.strides);
      add(tensor.kept), add(tensor.behind);
    }
    for (const GroupStage& stage : group.stages) {
      add(stage.stage.name), add(stage.stage.type), add(stage.stage.reduce), add(stage.stage.combine);
      add(stage.stage.scan_axis), add(stage.stage.body), add(stage.dest), add(stage.op), add(stage.location);
      add(stage.contraction.has_value()), add(stage.place), add(stage.placed), add(stage.peak_of);
      add(stage.peak_tensor), add(stage.run_if), add(stage.producers);
      if (stage.contraction) add(*stage.contraction);
    }
  }
  std::string text() && { return std::move(text_); }

 private:
  template <typename T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void add(T value) { text_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void add(const std::string& text) { add(text.size()), text_ += text; }
  template <typename T>
  void add(const std::vector<T>& values) {
    add(values.size());
    for (const T& value : values) add(value);
  }
  void add(const TensorType& type) { add(type.dtype), add(type.shape); }
  void add(const Contraction& c) { add(c.batch), add(c.m), add(c.n), add(c.k), add(c.left), add(c.right); }
  // A part that was met before is named by when that was.
  void add(const ExprP& expr) {
    add(expr != nullptr);
    if (expr == nullptr) return;
    const auto [known, is_new] = met_.emplace(expr.get(), met_.size());
    add(known->second);
    if (!is_new) return;
    add(expr->kind), add(expr->dtype), add(expr->number), add(expr->integer), add(expr->axis), add(expr->fn);
    add(expr->args), add(expr->tensor), add(expr->guard), add(expr->other);
  }

  std::string text_;
  std::unordered_map<const Expr*, size_t> met_;
};

}  // namespace

std::string group_key(const Group& group) { return Key(group).text(); }

}  // namespace mtmc
