// Every operator against torch in float64: its ATen rule, its types, its definition, and its torch text.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "base/process.h"
#include "base/tempdir.h"
#include "base/text.h"
#include "ops/aten.h"
#include "ops/op.h"
#include "support/golden.h"
#include "support/source_dir.h"

namespace mtmc {
namespace {

double number_of(const Json& json) {
  return json.is_string() ? std::stod(json.get<std::string>()) : json.get<double>();
}

std::vector<double> numbers_of(const Json& json) {
  std::vector<double> numbers;
  for (const Json& one : json) numbers.push_back(number_of(one));
  return numbers;
}

AtenArg argument(const Json& json, const std::vector<ValueId>& leaves) {
  const auto value = [&](const Json& one) { return one.is_null() ? kNoValue : leaves[one.at("v").get<size_t>()]; };
  if (json.is_null()) return std::monostate{};
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<int64_t>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_object() && json.contains("v")) return TensorArg{value(json)};
  if (json.is_object() && json.contains("float")) return std::stod(json["float"].get<std::string>());
  if (json.is_object()) return *parse_dtype(json.at("dtype").get<std::string>());
  if (!json.empty() && json[0].contains("float")) {
    std::vector<double> many;
    for (const Json& one : json) many.push_back(std::stod(one["float"].get<std::string>()));
    return many;
  }
  if (!json.empty() && !json[0].is_number()) {
    std::vector<ValueId> many;
    for (const Json& one : json) many.push_back(value(one));
    return many;
  }
  return json.get<std::vector<int64_t>>();
}

// The call of a case in a Program of its own, floats of type `dtype`.
struct Imported {
  Program program;
  std::vector<ValueId> leaves;
  Result<std::vector<ValueId>> outputs = Error{};
};
Imported import_case(const Json& record, DType dtype) {
  Imported imported;
  imported.program.name = "case";
  for (const Json& leaf : record["leaves"]) {
    TensorType type = *parse_type(leaf["type"].get<std::string>());
    if (is_float(type.dtype)) type.dtype = dtype;
    const bool known = leaf.value("known", false);
    std::string name = "x" + std::to_string(imported.leaves.size());
    if (known) {
      std::vector<std::string> words;
      for (const double number : numbers_of(leaf["values"])) words.push_back(format_double(number));
      name = join(words, " ");
    }
    const ValueKind kind = known ? ValueKind::constant : ValueKind::input;
    imported.leaves.push_back(add_leaf(imported.program, kind, name, type));
  }
  AtenCall call{record["overload"], {}};
  for (const auto& [name, value] : record["args"].items()) call.args[name] = argument(value, imported.leaves);
  imported.outputs = import_aten(imported.program, call);
  return imported;
}

std::vector<std::vector<double>> evaluate_case(Imported& imported, const Json& record) {
  imported.program.outputs = *imported.outputs;
  std::vector<std::vector<double>> values;
  for (const Value& value : imported.program.values)
    if (value.kind != ValueKind::result)
      values.push_back(value.kind == ValueKind::constant ? std::vector<double>{}
                                                         : numbers_of(record["leaves"][values.size()]["values"]));
  return evaluate(imported.program, values).value();
}

// The first element that differs, or empty.
std::string difference(const std::vector<double>& got, const std::vector<double>& wanted, double tolerance) {
  if (got.size() != wanted.size()) return std::to_string(got.size()) + " elements";
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(got[i]) && std::isnan(wanted[i])) continue;
    if (got[i] == wanted[i] || std::fabs(got[i] - wanted[i]) <= tolerance * (1 + std::fabs(wanted[i]))) continue;
    return "element " + std::to_string(i) + ": " + format_double(got[i]) + " instead of " + format_double(wanted[i]);
  }
  return {};
}

std::string spelled(const Imported& imported) {
  const Node& node = imported.program.nodes.back();
  std::vector<std::string> names;
  for (ValueId id : node.inputs) {
    if (id == kNoValue) {
      names.push_back("None");
      continue;
    }
    const Value& value = imported.program.value(id);
    if (value.kind == ValueKind::constant) {
      std::string text = value.name;
      if (!std::isfinite(literal(value)->at(0))) text = "float('" + text + "')";
      if (value.type.dtype == DType::b1) text = text == "0" ? "False" : "True";
      const Attrs like = {{"shape", std::vector<int64_t>{}}, {"value", std::string("?")}, {"dtype", value.type.dtype}};
      names.push_back(replace_all(find_op("full")->torch({"full", {}, like}, {}), "'?'", text));
    } else {
      names.push_back(value.name);
    }
  }
  return find_op(node.op)->torch(call_of(imported.program, node), names);
}

void check_types(const Json& record, const std::string& label) {
  for (const auto& [dtype, wanted] : record["types"].items()) {
    const Imported narrow = import_case(record, *parse_dtype(dtype));
    if (!narrow.outputs.ok()) {
      ADD_FAILURE() << label << " in " << dtype << ": " << narrow.outputs.error().message();
      continue;
    }
    for (size_t i = 0; i < narrow.outputs->size(); ++i)
      EXPECT_EQ(to_string(narrow.program.value((*narrow.outputs)[i]).type), wanted[i].get<std::string>())
          << label << " in " << dtype;
  }
}

void check_values(const Json& record, Imported& imported, const std::string& label) {
  const auto results = evaluate_case(imported, record);
  for (size_t i = 0; i < results.size(); ++i) {
    const Json& wanted = record["results"][i];
    const TensorType& type = imported.program.value((*imported.outputs)[i]).type;
    EXPECT_EQ(to_string(type), wanted["type"].get<std::string>()) << label;
    // Where torch itself computes in f32 (integers divided, ...) it rounds; the reference does not.
    const double tolerance = type.dtype == DType::f64 ? 1e-9 : 1e-6;
    EXPECT_EQ(difference(results[i], numbers_of(wanted["values"]), tolerance), "") << label << " output " << i;
  }
}

// One program of one kernel for the first and the last case of every operator, in f32: what the targets' tests run.
std::string programs_of(const Json& records) {
  std::map<std::string, std::vector<Program>> by_op;
  for (const Json& record : records) {
    Imported one = import_case(record, DType::f32);
    if (!one.outputs.ok()) continue;  // a failure of its own above
    Program& program = one.program;
    program.outputs = *one.outputs;
    const std::string& op = program.nodes.back().op;
    if (find_op(op)->recurrence) continue;  // no kernel for every target
    std::vector<Program>& found = by_op[op];
    program.name = op + "_" + (found.empty() ? "first" : "last");
    Kernel kernel;
    kernel.name = "k0";
    kernel.family = Family::pointwise;
    kernel.values = program.outputs;
    program.kernels = {kernel};
    if (found.size() == 2) found.pop_back();
    found.push_back(std::move(program));
  }
  std::string text;
  for (const auto& [op, programs] : by_op)
    for (const Program& program : programs) text += print(program) + "\n";
  return text;
}

TEST(TorchOps, RulesTypesDefinitionsAndTextsAgreeWithTorch) {
  const char* python = std::getenv("MTMC_PYTHON");
  if (!python) GTEST_SKIP() << "MTMC_PYTHON names no Python with torch";
  const TempDir folder;
  const std::string script = source_dir() + "/tests/ops/torch_cases.py", cases = folder.path() / "cases.json",
                    texts = folder.path() / "texts.json";
  const auto made = run({{python, script, "make", cases}, {}, {}, 120});
  ASSERT_TRUE(made.ok() && made->exit_code == 0) << (made.ok() ? made->err : made.error().message());
  Json records = Json::parse(read_file(cases).value());
  Json spellings = Json::array();
  std::set<std::string> covered;
  for (const Json& record : records) {
    Json arguments = record["args"];
    std::string label = record["overload"].get<std::string>() + " " + arguments.dump();
    for (const Json& leaf : record["leaves"]) label += " " + leaf["type"].get<std::string>();
    Imported imported = import_case(record, DType::f64);
    if (!imported.outputs.ok()) {
      ADD_FAILURE() << label << ": " << imported.outputs.error().message();
      spellings.push_back("None");
      continue;
    }
    covered.insert(imported.program.nodes.back().op);
    check_values(record, imported, label);
    check_types(record, label);
    spellings.push_back(spelled(imported));
  }
  for (const OpDef* def : all_ops())
    if (!def->aten.empty()) {
      EXPECT_TRUE(covered.count(std::string(def->name))) << def->name << " has no case";
    }

  expect_golden("ops/golden/operators.t", programs_of(records));
  ASSERT_TRUE(write_file(texts, spellings.dump()).ok());
  const auto checked = run({{python, script, "check", cases, texts}, {}, {}, 120});
  ASSERT_TRUE(checked.ok() && checked->exit_code == 0) << (checked.ok() ? checked->err : checked.error().message());
  for (const Json& wrong : Json::parse(read_file(texts).value())) ADD_FAILURE() << wrong.get<std::string>();
}

}  // namespace
}  // namespace mtmc
