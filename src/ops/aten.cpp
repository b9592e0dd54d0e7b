#include "ops/aten.h"

#include <charconv>
#include <optional>

#include "base/text.h"
#include "ops/build.h"

namespace mtmc {
namespace {

struct Match {
  const OpDef* def;
  const AtenRule* rule;
};

const std::multimap<std::string_view, Match>& rules() {
  static const auto table = [] {
    std::multimap<std::string_view, Match> found;
    for (const OpDef* def : all_ops())
      for (const AtenRule& rule : def->aten) found.emplace(rule.overload, Match{def, &rule});
    return found;
  }();
  return table;
}

std::vector<std::string> words(std::string_view text) {
  return text.empty() ? std::vector<std::string>{} : split(text, ' ');
}

// A scalar given where a tensor may stand: its category and value.
struct Scalar {
  DType natural;
  double value;
};
std::optional<Scalar> as_scalar(const AtenArg& arg) {
  if (const bool* flag = std::get_if<bool>(&arg)) return Scalar{DType::b1, *flag ? 1.0 : 0.0};
  if (const int64_t* whole = std::get_if<int64_t>(&arg)) return Scalar{DType::i64, static_cast<double>(*whole)};
  if (const double* real = std::get_if<double>(&arg)) return Scalar{DType::f32, *real};
  return std::nullopt;
}

// torch's promotion: a scalar never widens a tensor of its own or a higher category.
DType scalar_type(const Scalar& scalar, std::optional<DType> tensors) {
  const auto category = [](DType dtype) { return is_float(dtype) ? 2 : dtype == DType::b1 ? 0 : 1; };
  return tensors && category(*tensors) >= category(scalar.natural) ? *tensors : scalar.natural;
}

std::string scalar_text(const Scalar& scalar, DType dtype) {
  return is_float(dtype) ? format_double(scalar.value) : std::to_string(static_cast<int64_t>(scalar.value));
}

Error unfit(const AtenCall& call, std::string wrong, std::string got = {}) {
  return Error{"importing " + call.overload, std::move(wrong), std::move(got), {}};
}

// The operands in the rule's order; scalars are left for later, their places kNoValue.
struct Operands {
  std::vector<ValueId> ids;
  std::vector<std::pair<size_t, Scalar>> scalars;
};

Result<Operands> take_operands(AtenCall& call, std::string_view names) {
  Operands operands;
  for (const std::string& word : words(names)) {
    const bool list = word[0] == '*';
    const auto found = call.args.find(list ? word.substr(1) : word);
    if (found == call.args.end()) {
      operands.ids.push_back(kNoValue);
      continue;
    }
    const AtenArg arg = found->second;
    call.args.erase(found);
    if (const auto* many = std::get_if<std::vector<ValueId>>(&arg); many && list) {
      operands.ids.insert(operands.ids.end(), many->begin(), many->end());
    } else if (const auto* one = std::get_if<TensorArg>(&arg)) {
      operands.ids.push_back(one->id);
    } else if (std::holds_alternative<std::monostate>(arg)) {
      operands.ids.push_back(kNoValue);
    } else if (const auto scalar = as_scalar(arg)) {
      operands.scalars.emplace_back(operands.ids.size(), *scalar);
      operands.ids.push_back(kNoValue);
    } else {
      return unfit(call, "argument " + word + " is not a tensor");
    }
  }
  return operands;
}

// Constants for the scalars among the operands.
void place_scalars(Program& program, Operands& operands) {
  std::optional<DType> tensors;
  for (ValueId id : operands.ids) {
    if (id == kNoValue) continue;
    const DType dtype = program.value(id).type.dtype;
    tensors = tensors ? promote(*tensors, dtype) : dtype;
  }
  for (const auto& [place, scalar] : operands.scalars) {
    const DType dtype = scalar_type(scalar, tensors);
    operands.ids[place] = add_leaf(program, ValueKind::constant, scalar_text(scalar, dtype), {dtype, {}});
  }
  while (!operands.ids.empty() && operands.ids.back() == kNoValue) operands.ids.pop_back();
}

std::optional<AttrValue> as_attribute(const AtenArg& arg) {
  if (const auto* flag = std::get_if<bool>(&arg)) return *flag;
  if (const auto* whole = std::get_if<int64_t>(&arg)) return *whole;
  if (const auto* real = std::get_if<double>(&arg)) return *real;
  if (const auto* text = std::get_if<std::string>(&arg)) return *text;
  if (const auto* dtype = std::get_if<DType>(&arg)) return *dtype;
  if (const auto* list = std::get_if<std::vector<int64_t>>(&arg)) return *list;
  if (const auto* ids = std::get_if<std::vector<ValueId>>(&arg); ids && ids->empty()) return std::vector<int64_t>{};
  return std::nullopt;
}

Result<Attrs> take_attrs(AtenCall& call, std::string_view names) {
  Attrs attrs;
  for (const std::string& word : words(names)) {
    const size_t arrow = word.find('>');
    const std::string from = word.substr(0, arrow), to = arrow == word.npos ? word : word.substr(arrow + 1);
    const auto found = call.args.find(from);
    if (found == call.args.end()) continue;
    const AtenArg arg = found->second;
    call.args.erase(found);
    if (std::holds_alternative<std::monostate>(arg)) continue;
    const auto value = as_attribute(arg);
    if (!value) return unfit(call, "argument " + from + " is not a constant");
    attrs[to] = *value;
  }
  return attrs;
}

// "mode=\"x\" p=2.0 n=3 keepdim=true"
void add_fixed(Attrs& attrs, std::string_view fixed) {
  for (const std::string& word : words(fixed)) {
    const std::string key = word.substr(0, word.find('=')), text = word.substr(key.size() + 1);
    int64_t whole = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), whole);
    if (text[0] == '"') {
      attrs[key] = text.substr(1, text.size() - 2);
    } else if (text == "true" || text == "false") {
      attrs[key] = text == "true";
    } else if (const auto dtype = parse_dtype(text)) {
      attrs[key] = *dtype;
    } else if (code == std::errc() && end == text.data() + text.size()) {
      attrs[key] = whole;
    } else {
      attrs[key] = std::stod(text);
    }
  }
}

Result<std::vector<ValueId>> apply(Program& program, AtenCall call, const Match& match, const std::string& location) {
  if (match.rule->adapt) match.rule->adapt(call);
  if (match.rule->known && !match.rule->known(call, program)) return unfit(call, "operands that are not known");
  MTMC_TRY(Operands operands, take_operands(call, match.rule->operands));
  MTMC_TRY(Attrs attrs, take_attrs(call, match.rule->attrs));
  std::erase_if(call.args, [](const auto& arg) { return std::holds_alternative<std::monostate>(arg.second); });
  if (!call.args.empty()) return unfit(call, "no rule for argument", call.args.begin()->first);
  add_fixed(attrs, match.rule->fixed);
  const size_t values = program.values.size();
  place_scalars(program, operands);
  auto added = add_node(program, match.def->name, operands.ids, std::move(attrs), location);
  if (!added.ok()) program.values.resize(values);
  return added;
}

}  // namespace

Result<std::vector<ValueId>> import_aten(Program& program, AtenCall call, std::string location) {
  // Where and how a result lies in memory is not part of what is computed.
  for (const char* name : {"device", "layout", "pin_memory", "memory_format", "non_blocking", "implicit", "copy"})
    call.args.erase(name);
  Result<std::vector<ValueId>> outcome = unfit(call, "no operator stands for it");
  const auto [first, last] = rules().equal_range(call.overload);
  for (auto match = first; match != last; ++match) {
    outcome = apply(program, call, match->second, location);
    if (outcome.ok()) break;
  }
  return outcome;
}

}  // namespace mtmc
