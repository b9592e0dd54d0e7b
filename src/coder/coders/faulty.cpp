#include "coder/faulty.h"

#include <vector>

#include "base/hash.h"
#include "base/rng.h"
#include "base/text.h"

namespace mtmc {
namespace {

constexpr FaultRates kUsualRates{.compile = 0.1, .wrong = 0.1, .crash = 0.05, .hang = 0.02};
constexpr const char* kSourceStart = "SOURCE = r'''\n";
constexpr const char* kKernelStart = "extern \"C\" void ";

uint64_t number_of(const std::string& text) { return std::stoull(short_hash(text, 15), nullptr, 16); }

std::vector<size_t> all_of(const std::string& text, const std::string& what, size_t from, size_t to) {
  std::vector<size_t> found;
  for (size_t at = text.find(what, from); at < to; at = text.find(what, at + 1)) found.push_back(at);
  return found;
}

// The C++ of a kernel file that is a kernel's own (behind the helpers): [begin, end), empty when there is none.
std::pair<size_t, size_t> own_source(const std::string& text) {
  const size_t source = text.find(kSourceStart);
  if (source == std::string::npos) return {0, 0};
  const size_t end = text.find("'''", source + std::string(kSourceStart).size());
  const size_t begin = text.find(kKernelStart, source);
  return begin < end ? std::pair{begin, end} : std::pair{size_t{0}, size_t{0}};
}

std::string insert_at(std::string text, size_t at, const std::string& more) { return text.insert(at, more); }

// The first statement of some kernel's body.
size_t body_of_a_kernel(const std::string& text, std::pair<size_t, size_t> own, uint64_t choice) {
  const auto kernels = all_of(text, kKernelStart, own.first, own.second);
  return text.find('{', kernels[choice % kernels.size()]) + 1;
}

// A bound that is one too small: the last element of a loop is never computed.
std::string shorten_a_loop(std::string text, std::pair<size_t, size_t> own, uint64_t choice) {
  std::vector<size_t> bounds;  // where "< NUMBER;" ends its number
  for (size_t at : all_of(text, "; ", own.first, own.second)) {
    const size_t less = text.find(" < ", at);
    const size_t stop = text.find(';', at + 1);
    if (less == std::string::npos || stop == std::string::npos || less > stop || text.find('\n', at) < stop) continue;
    if (text.rfind("for (", at) != std::string::npos && text.rfind("for (", at) > text.rfind('\n', at))
      bounds.push_back(stop);
  }
  if (bounds.empty()) return insert_at(text, body_of_a_kernel(text, own, choice), "\n  return;  // nothing is written");
  return insert_at(text, bounds[choice % bounds.size()], " - 1");
}

std::string spoil_source(const std::string& text, std::pair<size_t, size_t> own, Fault fault, uint64_t choice) {
  const size_t body = body_of_a_kernel(text, own, choice);
  switch (fault) {
    case Fault::compile:
      return choice % 2 ? insert_at(text, body, "\n  undeclared += 1;") : insert_at(text, body, "\n  int missing = ;");
    case Fault::wrong: return shorten_a_loop(text, own, choice / 2);
    case Fault::crash: return insert_at(text, body, "\n  *(volatile int*)nullptr = 0;");
    case Fault::hang: return insert_at(text, body, "\n  for (volatile int spin = 0; spin == 0;) {}");
    case Fault::none: return text;
  }
  return text;
}

// A file whose kernels are all library calls: the fault goes in front of the statement that returns.
std::string spoil_forward(const std::string& text, Fault fault) {
  const size_t forward = text.find("def forward(");
  const size_t at = forward == std::string::npos ? std::string::npos : text.rfind("return ");
  if (at == std::string::npos || at < forward) return text + "# fault: " + name(fault) + "\n";
  const size_t line = text.rfind('\n', at) + 1;
  const std::string margin = text.substr(line, at - line);
  switch (fault) {
    case Fault::compile: return insert_at(text, at, "return (\n" + margin);
    case Fault::wrong: {
      const size_t end = text.find('\n', at);
      const std::string value = text.substr(at + 7, end - at - 7);
      return text.substr(0, at) + "return torch.utils._pytree.tree_map(lambda t: t + 1, " + value + ")" +
             text.substr(end);
    }
    case Fault::crash: return insert_at(text, at, "import ctypes\n" + margin + "ctypes.string_at(0)\n" + margin);
    case Fault::hang: return insert_at(text, at, "while True:\n" + margin + "    pass\n" + margin);
    case Fault::none: return text;
  }
  return text;
}

Fault draw(const FaultRates& rates, double at) {
  if ((at -= rates.compile) < 0) return Fault::compile;
  if ((at -= rates.wrong) < 0) return Fault::wrong;
  if ((at -= rates.crash) < 0) return Fault::crash;
  return at - rates.hang < 0 ? Fault::hang : Fault::none;
}

}  // namespace

std::string name(Fault fault) {
  switch (fault) {
    case Fault::none: return "none";
    case Fault::compile: return "compile-error";
    case Fault::wrong: return "wrong-result";
    case Fault::crash: return "crashed";
    case Fault::hang: return "timed-out";
  }
  MTMC_CHECK(false, "a fault without a name");
}

std::string inject(const std::string& text, Fault fault, uint64_t choice) {
  if (fault == Fault::none) return text;
  const auto own = own_source(text);
  return own.second > own.first ? spoil_source(text, own, fault, choice) : spoil_forward(text, fault);
}

Result<Implementation> FaultyCoder::implement(const CoderRequest& request) {
  MTMC_TRY(Implementation made, inner_->implement(request));
  Rng rng(seed_ ^ number_of(request.state.code.text + "\n" + store_text(request.action)));
  const Fault fault = draw(rates_, rng.uniform());
  made.code.text = inject(made.code.text, fault, rng.next());
  return made;
}

extern const CoderDef faulty_def;
const CoderDef faulty_def{"faulty", "builtin that makes mistakes on purpose, to try the judge", "",
                          [](const CoderContext& context) -> Result<std::unique_ptr<Coder>> {
                            MTMC_TRY(auto builtin, find_coder("builtin")->make(context));
                            return std::make_unique<FaultyCoder>(std::move(builtin), kUsualRates, context.seed);
                          }};

}  // namespace mtmc
