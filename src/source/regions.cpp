#include "source/regions.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "base/text.h"
#include "source/cuda.h"
#include "source/facts.h"
#include "source/flow.h"
#include "source/python.h"

namespace mtmc {

const std::vector<std::string> kRegionActions = {"fuse", "lower", "tile", "pipeline", "reorder", "capture"};

namespace {

constexpr size_t kMostSteps = 2000;  // of a function; what comes after has no regions

// "a", "a and b", "a, b and c"; each once, and at most five.
std::string in_words(const std::vector<std::string>& all) {
  std::vector<std::string> names;
  for (const std::string& name : all)
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  if (names.size() > 5) {
    names[5] = std::to_string(names.size() - 5) + " more";
    names.resize(6);
  }
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

class Finder {
 public:
  explicit Finder(const CodeFacts& facts) : facts_(facts) {}

  std::vector<SourceRegion> run(size_t most) {
    for (std::vector<SourceStep> body : facts_.bodies) {
      if (body.size() > kMostSteps) body.resize(kMostSteps);
      fusions(body);
      lowerings(body);
      captures(body);
    }
    for (const KernelFacts& kernel : facts_.kernels) loops(kernel);
    std::vector<SourceRegion> ordered;
    std::set<std::string> seen;
    for (const std::string& action : kRegionActions) {
      std::vector<SourceRegion> of;
      for (SourceRegion& region : found_)
        if (region.action == action && seen.insert(region.text()).second) of.push_back(std::move(region));
      std::stable_sort(of.begin(), of.end(), [](const SourceRegion& a, const SourceRegion& b) {
        return std::pair(a.span().first, a.span().last) < std::pair(b.span().first, b.span().last);
      });
      if (of.size() > most) of.resize(most);
      std::move(of.begin(), of.end(), std::back_inserter(ordered));
    }
    return ordered;
  }

 private:
  void add(std::string action, std::string label, std::vector<LineRange> lines) {
    std::sort(lines.begin(), lines.end(),
              [](LineRange a, LineRange b) { return std::pair(a.first, a.last) < std::pair(b.first, b.last); });
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
    found_.push_back({std::move(action), std::move(label), std::move(lines)});
  }

  void fusions(const std::vector<SourceStep>& body) {
    for (const SourceStep& step : body)
      if (step.ops.size() > 1) add("fuse", in_words(step.ops), {step.lines});
    for (const auto& [producer, consumer] : producer_consumer_pairs(body)) {
      const SourceStep &first = body[producer], &second = body[consumer];
      if (first.lines == second.lines && first.launch) continue;  // a kernel that is launched twice
      std::vector<std::string> ops = first.ops;
      ops.insert(ops.end(), second.ops.begin(), second.ops.end());
      add("fuse", in_words(ops), {first.lines, second.lines});
    }
  }

  void lowerings(const std::vector<SourceStep>& body) {
    for (const SourceStep& step : body)
      if (step.library) add("lower", in_words(step.ops), {step.statement});
  }

  // All launches of a function, those of torch's operators, too.
  void captures(const std::vector<SourceStep>& body) {
    std::vector<LineRange> lines;
    for (const SourceStep& step : body)
      if (step.launch || step.library) lines.push_back(step.statement);
    if (lines.size() > 1) add("capture", std::to_string(lines.size()) + " launches", lines);
  }

  void loops(const KernelFacts& kernel) {
    const std::string in = " in kernel " + kernel.name;
    bool tiled = false;
    for (const SourceLoop& loop : kernel.loops) {
      tiled = tiled || (loop.loads && loop.computes);
      nest(loop, in);
    }
    if (!tiled && kernel.loads && kernel.computes) add("tile", "kernel " + kernel.name, {kernel.lines});
    if (kernel.order.first > 0) add("reorder", "the order of programs" + in, {kernel.order});
  }

  // The outermost loop of a nest is tiled and reordered, the innermost ones that load and compute are pipelined.
  void nest(const SourceLoop& outermost, const std::string& in) {
    if (!outermost.loads || !outermost.computes) return;
    std::vector<std::string> over;
    const SourceLoop* at = &outermost;
    while (at != nullptr) {
      over.push_back(at->over);
      const auto next = std::find_if(at->inside.begin(), at->inside.end(),
                                     [](const SourceLoop& one) { return one.loads && one.computes; });
      at = next == at->inside.end() ? nullptr : &*next;
    }
    const std::string name = named(over);
    add("tile", name + in, {outermost.lines});
    innermost(outermost, in);
    if (over.size() > 1) add("reorder", name + in, {outermost.lines});
  }

  void innermost(const SourceLoop& loop, const std::string& in) {
    bool inside = false;
    for (const SourceLoop& inner : loop.inside)
      if (inner.loads && inner.computes) inside = true, innermost(inner, in);
    if (!inside) add("pipeline", named({loop.over}) + in, {loop.lines});
  }

  static std::string named(const std::vector<std::string>& over) {
    std::vector<std::string> names;
    for (const std::string& name : over)
      if (!name.empty()) names.push_back(name);
    if (names.empty()) return "the while loop";
    return (names.size() == 1 ? "the loop over " : "the loops over ") + in_words(names);
  }

  const CodeFacts& facts_;
  std::vector<SourceRegion> found_;
};

}  // namespace

LineRange SourceRegion::span() const {
  LineRange all = lines.front();
  for (const LineRange& one : lines) all = {std::min(all.first, one.first), std::max(all.last, one.last)};
  return all;
}

std::string SourceRegion::text() const { return action + " " + label + " in " + to_string(span()); }

std::string SourceRegion::word() const { return replace_all(label + " in " + to_string(span()), " ", "_"); }

Result<std::vector<SourceRegion>> regions_of(const std::string& code, Language language, size_t most) {
  MTMC_TRY(const SyntaxNode root, parse_code(code, language));
  CodeFacts facts;
  if (language == Language::python) {
    for (const Piece& piece : cuda_pieces(root, code)) {
      MTMC_TRY(const SyntaxNode inside, parse_code(code, Language::cuda, {piece}));
      read_cuda(inside, facts);
    }
    read_python(root, facts);
  } else {
    read_cuda(root, facts);
  }
  const auto is_code = [](const SyntaxNode& node) { return node.named && !node.is("ERROR") && !node.is("comment"); };
  if (std::none_of(root.children.begin(), root.children.end(), is_code))
    return Error{"reading code", "nothing of it can be read", "",
                 language == Language::python ? "Python" : "C++ or CUDA"};
  return Finder(facts).run(most);
}

}  // namespace mtmc
