#include "targets/cpu_runner.h"

#include <dlfcn.h>

#include <cmath>
#include <cstring>
#include <map>

#include "base/file.h"
#include "base/process.h"
#include "base/tempdir.h"
#include "base/text.h"
#include "targets/cpu/kernel_printer.h"
#include "targets/cpu/prelude.h"

namespace mtmc::testing {
namespace {

using Bytes = std::vector<char>;

template <typename T>
void put(Bytes& bytes, size_t i, double value) {
  const T typed = static_cast<T>(value);
  std::memcpy(bytes.data() + i * sizeof(T), &typed, sizeof(T));
}
template <typename T>
double get(const Bytes& bytes, size_t i) {
  T typed;
  std::memcpy(&typed, bytes.data() + i * sizeof(T), sizeof(T));
  return static_cast<double>(typed);
}

float from_bf16(uint16_t bits) {
  const uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}
uint16_t to_bf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if (std::isnan(value)) return 0x7fc0;
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

void write_element(Bytes& bytes, DType dtype, size_t i, double value) {
  switch (dtype) {
    case DType::f32: return put<float>(bytes, i, value);
    case DType::f64: return put<double>(bytes, i, value);
    case DType::i64: return put<int64_t>(bytes, i, value);
    case DType::i32: return put<int32_t>(bytes, i, value);
    case DType::i16: return put<int16_t>(bytes, i, value);
    case DType::i8: return put<int8_t>(bytes, i, value);
    case DType::f16: return put<_Float16>(bytes, i, value);
    case DType::bf16: {
      const uint16_t bits = to_bf16(static_cast<float>(value));
      std::memcpy(bytes.data() + i * 2, &bits, 2);
      return;
    }
    default: return put<uint8_t>(bytes, i, value);
  }
}

double read_element(const Bytes& bytes, DType dtype, size_t i) {
  switch (dtype) {
    case DType::f32: return get<float>(bytes, i);
    case DType::f64: return get<double>(bytes, i);
    case DType::i64: return get<int64_t>(bytes, i);
    case DType::i32: return get<int32_t>(bytes, i);
    case DType::i16: return get<int16_t>(bytes, i);
    case DType::i8: return get<int8_t>(bytes, i);
    case DType::f16: return static_cast<double>(get<_Float16>(bytes, i));
    case DType::bf16: {
      uint16_t bits;
      std::memcpy(&bits, bytes.data() + i * 2, 2);
      return from_bf16(bits);
    }
    default: return get<uint8_t>(bytes, i);
  }
}

Bytes poisoned(const TensorType& type) {
  return Bytes(static_cast<size_t>(type.size_bytes()), static_cast<char>(0xff));
}

}  // namespace

double rounded(double value, DType dtype) {
  Bytes bytes(8);
  write_element(bytes, dtype, 0, value);
  return read_element(bytes, dtype, 0);
}

std::vector<std::vector<std::vector<double>>> run_on_cpu(const std::vector<Program>& programs,
                                                         const std::vector<std::vector<std::vector<double>>>& leaves) {
  std::string source = "struct Any { void* p; template <class T> operator T*() const { return (T*)p; } };\n";
  std::vector<std::vector<CpuKernel>> kernels(programs.size());
  for (size_t p = 0; p < programs.size(); ++p) {
    source += "namespace p" + std::to_string(p) + " {\n";
    for (const Kernel& kernel : programs[p].kernels) {
      auto printed = print_cpu_kernel(programs[p], kernel, Hardware{});
      MTMC_CHECK(printed.ok(), printed.error().message() + "\n" + print(programs[p]));
      std::string arguments;
      for (size_t i = 0; i < printed->arguments.size(); ++i)
        arguments += (i > 0 ? ", Any{p[" : "Any{p[") + std::to_string(i) + "]}";
      source += replace_all(printed->text, "extern \"C\" void", "static void") + "extern \"C\" void run_" +
                std::to_string(p) + "_" + kernel.name + "(void** p) { " + printed->name + "(" + arguments + "); }\n";
      kernels[p].push_back(std::move(*printed));
    }
    source += "}\n";
  }
  TempDir folder;
  const std::string file = folder.path() / "kernels.cpp", library = folder.path() / "kernels.so";
  MTMC_CHECK(write_file(file, "#include <algorithm>\n" + cpu_prelude(source) + source).ok(),
             "cannot write the kernels");
  const auto built = run({{"g++", "-O2", "-march=native", "-std=c++17", "-fopenmp", "-fPIC", "-shared",
                           "-fno-math-errno", "-Wno-psabi", "-w", file, "-o", library},
                          {},
                          {},
                          300});
  MTMC_CHECK(built.ok() && built->exit_code == 0,
             "compiling kernels: " +
                 (built.ok() ? built->err.substr(0, 3000) + "\n" + source.substr(0, 6000) : built.error().message()));
  void* handle = dlopen(library.c_str(), RTLD_NOW);
  MTMC_CHECK(handle != nullptr, dlerror());
  std::vector<std::vector<std::vector<double>>> results;
  for (size_t p = 0; p < programs.size(); ++p) {
    std::map<ValueId, Bytes> memory;
    size_t next = 0;
    for (const Value& value : programs[p].values) {
      if (value.kind == ValueKind::result) continue;
      Bytes bytes(static_cast<size_t>(value.type.size_bytes()));
      const std::vector<double>& data = leaves[p][next++];
      for (size_t i = 0; i < data.size(); ++i) write_element(bytes, value.type.dtype, i, data[i]);
      memory[value.id] = std::move(bytes);
    }
    for (size_t k = 0; k < kernels[p].size(); ++k) {
      for (ValueId id : kernels[p][k].writes)
        memory[id] = poisoned({programs[p].value(id).storage, programs[p].value(id).type.shape});
      std::vector<void*> pointers;
      for (ValueId id : kernels[p][k].arguments) pointers.push_back(memory.at(id).data());
      const std::string symbol = "run_" + std::to_string(p) + "_" + programs[p].kernels[k].name;
      auto* function = reinterpret_cast<void (*)(void**)>(dlsym(handle, symbol.c_str()));
      MTMC_CHECK(function != nullptr, symbol);
      function(pointers.data());
    }
    std::vector<std::vector<double>> outputs;
    std::vector<ValueId> wanted = programs[p].outputs;
    for (const StateUpdate& state : programs[p].states) wanted.push_back(state.value);
    for (ValueId id : wanted) {
      const Value& value = programs[p].value(id);
      std::vector<double> data(static_cast<size_t>(value.type.elements()));
      for (size_t i = 0; i < data.size(); ++i) data[i] = read_element(memory.at(id), value.storage, i);
      outputs.push_back(std::move(data));
    }
    results.push_back(std::move(outputs));
  }
  return results;
}

}  // namespace mtmc::testing
