// A module file in the making, as KernelBench writes them (Model, get_inputs, get_init_inputs). A value flows through
// blocks (block.h), each of which adds statements to __init__ and forward and says what the value is afterwards.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/rng.h"

namespace mtmc {

// large: worth optimising on a GPU; small: for tests on a CPU.
enum class TaskSize { large, small };

// What the dimensions of the value mean.
enum class Domain : unsigned {
  rows = 1,      // [batch, width]
  tokens = 2,    // [batch, tokens, width]
  sequence = 4,  // [batch, channels, length]
  image = 8,     // [batch, channels, height, width]
  volume = 16,   // [batch, channels, depth, height, width]
  plain = 32,    // anything else: only what works element by element follows
};
constexpr unsigned operator|(Domain a, Domain b) { return static_cast<unsigned>(a) | static_cast<unsigned>(b); }
constexpr unsigned operator|(unsigned a, Domain b) { return a | static_cast<unsigned>(b); }
constexpr unsigned kAnywhere = ~0u;

// A size: how it is written ("width", "2 * width") and its value.
struct Dim {
  std::string text;
  int64_t value = 0;
};

class ModuleText {
 public:
  ModuleText(Rng& rng, TaskSize size) : rng_(rng), size_(size) {}

  // --- the value that flows
  Domain domain = Domain::plain;
  std::vector<Dim> shape;
  std::string var = "x";  // its name in forward
  std::string dtype;      // of weights and float arguments: "", "torch.float16", "torch.bfloat16"
  const Dim& channels() const { return domain == Domain::rows || domain == Domain::tokens ? shape.back() : shape[1]; }
  int64_t elements() const;

  // --- drawing
  Rng& rng() { return rng_; }
  bool small() const { return size_ == TaskSize::small; }
  bool chance(double share) { return rng_.uniform() < share; }
  template <typename T>
  const T& pick(const std::vector<T>& of) {
    return of[rng_.below(of.size())];
  }
  std::string pick(std::initializer_list<const char*> of);
  int64_t pick(std::initializer_list<int64_t> of) { return pick(std::vector<int64_t>(of)); }
  // One of two lists, by the size of the task.
  int64_t sized(std::initializer_list<int64_t> large, std::initializer_list<int64_t> few) {
    return pick(small() ? few : large);
  }

  // --- writing
  // A size named in the file, such as `hidden = 1024`; the name gets a number where it is taken.
  Dim size(std::string_view name, int64_t value);
  // A member that __init__ makes: `self.NAME = MAKE`; returns "self.NAME", one of the names that is free.
  std::string member(std::initializer_list<const char*> names, const std::string& make);
  // A statement of forward that gives the value a new text: `x = TEXT`.
  void become(const std::string& text) { forward_.push_back(var + " = " + text); }
  void statement(const std::string& text) { forward_.push_back(text); }
  // A local variable of forward with one of these names.
  std::string local(std::initializer_list<const char*> names);
  // A further argument of forward with its draw: argument({"mask"}, "torch.rand({})", "batch_size, tokens").
  std::string argument(std::initializer_list<const char*> names, const std::string& draw);
  // torch.randn of a shape, in the file's dtype.
  std::string randn(const std::vector<Dim>& of) const;
  static std::string list(const std::vector<Dim>& dims);  // "batch_size, 2 * width"
  // What was added, for the docstring.
  void sign(const std::string& name) { signs_.push_back(name); }
  // About what it costs a large GPU: so many bytes and operations in one kernel.
  void cost(double bytes, double flops = 0);

  // --- a class of its own for what is repeated
  // Begins the text of such a class, with this value as its argument; it has no others (`closed`).
  ModuleText repeated() const;
  // Writes it before Model, and applies `depth` of them one after the other. The value must have come out as it went
  // in.
  void repeat(const ModuleText& block, int depth);
  bool closed = false;

  double seconds() const { return seconds_; }
  const std::vector<std::string>& signs() const { return signs_; }
  // Files with the same key differ in names only.
  std::string key() const;
  // The whole file; `about` begins its docstring.
  std::string render(const std::string& about) const;
  bool eval = false;  // MODE = "eval"

 private:
  std::string free_name(std::initializer_list<const char*> names, const std::string& prefix);
  std::vector<std::string> draws() const;
  std::vector<Dim> used_sizes() const;
  std::vector<std::string> parameters() const;  // of __init__
  std::string class_text(const std::string& name) const;

  Rng& rng_;
  TaskSize size_;
  std::vector<Dim> sizes_;
  std::vector<std::string> init_, forward_, taken_, signs_;
  std::vector<std::string> classes_;                            // before Model
  std::vector<std::pair<std::string, std::string>> arguments_;  // name, draw
  double seconds_ = 0;
};

}  // namespace mtmc
