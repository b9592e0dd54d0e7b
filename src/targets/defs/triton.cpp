// The triton target: every family as Triton functions for NVIDIA GPUs, run on the CPU by Triton's interpreter.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "ops/op.h"
#include "targets/cost.h"
#include "targets/frame.h"
#include "targets/module_printer.h"
#include "targets/triton/attention.h"
#include "targets/triton/function_table.h"
#include "targets/triton/kernel_printer.h"
#include "targets/triton/pack.h"
#include "targets/triton/prepare.h"
#include "targets/triton/split_k.h"

namespace mtmc {
namespace {

constexpr std::string_view kSoftware = "triton";

constexpr const char* kImports =
    "import os\n\nos.environ.setdefault(\"TRITON_DEFAULT_FP_FUSION\", \"1\")\n\nimport triton\nimport triton.language "
    "as tl\n";

// Where the hardware can schedule a launch before the one ahead of it has finished.
constexpr const char* kOverlaps =
    "_OVERLAPS = tl.constexpr(_DEVICE == \"cuda\" and torch.cuda.is_available() and "
    "torch.cuda.get_device_capability() >= (9, 0))\n\n\n";

// Where matrix units read operands from registers while the program goes on.
constexpr const char* kFromRegisters =
    "_FROM_REGISTERS = tl.constexpr(_DEVICE == \"cuda\" and torch.cuda.is_available() and "
    "torch.cuda.get_device_capability()[0] == 9)\n\n\n";

constexpr const char* kLaunch = R"PY(_compiled = {}


def _launch(kernel, programs, *arguments, warps, stages=1):
    """Launches a kernel; from the second time on without asking what it must be compiled for, nor what an address is."""
    passed = [x.data_ptr() if isinstance(x, torch.Tensor) else x for x in arguments]
    key = (id(kernel), *[x % 16 == 0 for x in passed if type(x) is int])
    known = _compiled.get(key)
    if known is None:
        compiled = kernel[(programs,)](*arguments, num_warps=warps, num_stages=stages, launch_pdl=OVERLAPS)
        if compiled is not None:  # the interpreter compiles nothing
            _compiled[key] = compiled.run, compiled.function, compiled.packed_metadata
        return
    run, function, metadata = known
    driver = triton.runtime.driver.active
    stream = driver.get_current_stream(driver.get_current_device())
    run(programs, 1, 1, stream, function, metadata, None, None, None, *passed)


)PY";

constexpr const char* kScratch = R"PY(_kept = {}


def _scratch(name, elements, dtype):
    """Memory that launches pass on between them, kept from call to call."""
    if name not in _kept:
        _kept[name] = torch.empty(elements, dtype=dtype, device=_DEVICE)
    return _kept[name]


)PY";

constexpr const char* kZeros = R"PY(def _zeros(name, elements, dtype):
    """The same, and zeros wherever no launch writes."""
    if name not in _kept:
        _scratch(name, elements, dtype).zero_()
    return _kept[name]


)PY";

constexpr const char* kReplay = R"PY(_graphs = weakref.WeakKeyDictionary()


def _replay(module, inputs, held):
    """The module's call as one graph launch: inputs are copied to where the graph reads them, results out of where it
    writes them. Weights are read where they lie; other tensors in their place mean a new graph."""
    if _DEVICE != "cuda" or torch.cuda.is_current_stream_capturing():
        return module._run(*inputs, *held)
    addresses = [x.data_ptr() for x in held]
    kept = _graphs.get(module)
    if kept is None or kept[0] != addresses:
        places = [x.clone() for x in inputs]
        buffers, random = [(b, b.clone()) for b in module.buffers()], torch.cuda.get_rng_state()
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):  # compiles what must be compiled; what it changes is put back
            module._run(*places, *held)
        torch.cuda.current_stream().wait_stream(side)
        for buffer, before in buffers:
            buffer.copy_(before)
        torch.cuda.set_rng_state(random)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            results = module._run(*places, *held)
        kept = _graphs[module] = (addresses, places, graph, results)
    for place, x in zip(kept[1], inputs):
        place.copy_(x)
    kept[2].replay()
    return [None if result is None else result.clone() for result in kept[3]]


)PY";

constexpr const char* kTiles = R"PY(_views = {}


def _tiles(tensor, height, width, down, across):
    """The memory of a tensor as a matrix that is read by rectangles of down x across elements."""
    key = (id(tensor), height, width, down, across)
    if key in _views:
        return _views[key]
    made = TensorDescriptor(tensor if tensor.data_ptr() % 16 == 0 else tensor.clone(), [height, width], [width, 1], [down, across])
    if any(tensor is kept for kept in _kept.values()):
        _views[key] = made
    return made


)PY";

// A helper may call others: those come before it.
void add_helper(const std::string& name, std::set<std::string>& done, std::string& text) {
  if (!done.insert(name).second) return;
  const std::string source = triton::helper_source(name);
  for (const char* other : {"_atan2", "_atan", "_exp", "_expm1"})
    if (name != other && source.find(std::string(other) + "(") != std::string::npos) add_helper(other, done, text);
  text += source + "\n\n";
}

Result<Code> emit(const Program& program, const Hardware& hardware, const ModuleShell& shell) {
  ModuleParts parts;
  parts.device = Device::cuda;
  parts.software = kSoftware;
  std::set<std::string> helpers;
  triton::FunctionTable functions;
  bool tiles = false, scratch = false, zeros = false;
  for (const Kernel& kernel : program.kernels) {
    if (kernel.family == Family::library) continue;
    MTMC_TRY(const TritonKernel printed, print_triton_kernel(program, kernel, hardware));
    Launch launch;
    launch.kernel = kernel.name;
    launch.reads = printed.reads;
    launch.writes = printed.writes;
    std::vector<std::string> statements = printed.scratch;
    statements.insert(statements.end(), printed.calls.begin(), printed.calls.end());
    launch.call = join(statements, "\n");
    const triton::FunctionTable::Place place = functions.add(printed.text, printed.signatures, launch.call);
    launch.source_marker = place.marker, launch.source_lines = place.lines;
    helpers.insert(printed.helpers.begin(), printed.helpers.end());
    tiles |= printed.tiles;
    zeros |= printed.zeros;
    scratch |= !printed.scratch.empty();
    parts.launches.push_back(std::move(launch));
  }
  parts.imports =
      std::string(kImports) + (tiles ? "from triton.tools.tensor_descriptor import TensorDescriptor\n\n" : "\n");
  std::set<std::string> done;
  const std::string& kernels = functions.text();
  const bool overlap = helpers.count("_wait") > 0;
  if (overlap) parts.source += kOverlaps;
  if (helpers.count("_settled") > 0) parts.source += kFromRegisters;
  for (const std::string& helper : helpers) add_helper(helper, done, parts.source);
  if (!kernels.empty())
    parts.source +=
        replace_all(kLaunch, overlap ? "OVERLAPS" : ", launch_pdl=OVERLAPS", overlap ? "_OVERLAPS.value" : "");
  if (!kernels.empty() && (scratch || tiles)) parts.source += kScratch;
  if (zeros) parts.source += kZeros;
  parts.graph = !program.captures.empty();
  if (parts.graph) parts.source += kReplay;
  parts.source += (tiles ? kTiles : "") + kernels;
  Code code = print_module(program, shell, parts);
  // Triton's interpreter runs on the CPU.
  code.text = replace_all(std::move(code.text), "_DEVICE = \"cuda\"\n",
                          "_DEVICE = \"cpu\" if os.environ.get(\"TRITON_INTERPRET\") == \"1\" else \"cuda\"\n");
  return code;
}

Status supports(const Program& program, const Kernel& kernel, const Hardware& hardware) {
  MTMC_RETURN_IF_ERROR(can_generate(program, kernel.values));
  return can_print_triton_kernel(program, kernel, hardware);
}

std::vector<Numbers> candidates(const Program& program, const Kernel& kernel, const Hardware& hardware) {
  return triton_candidates(program, kernel, hardware);
}

bool reads_f32(const Contraction& contraction) {
  for (const ExprP& side : {contraction.left, contraction.right})
    for (const Expr* load : loads_of(side))
      if (load->dtype == DType::f32) return true;
  return false;
}

// Of products of f32, the least exact first, which is about as exact as eager: it convolves in TF32 and multiplies
// matrices in f32. Empty: there are none.
std::vector<std::string> ways_to_multiply(const Group& group) {
  bool in_tf32 = false, in_f32 = false;
  for (const GroupStage& stage : group.stages)
    if (stage.contraction && reads_f32(*stage.contraction)) (stage.tf32 ? in_tf32 : in_f32) = true;
  std::vector<std::string> ways;
  if (in_tf32) ways.emplace_back(in_f32 ? "as_eager" : "half");
  if (in_tf32 || in_f32) ways.insert(ways.end(), {"two_part", "ieee"});
  return ways;
}

// Does this product read one operand only, and leave most of a GPU idle while it does?
bool reads_idly(const GroupStage& stage, const std::string& precision, const Hardware& hardware) {
  return stage.contraction && triton::way_of(stage, precision) == "ieee" && triton::chunks_of_k(stage, hardware) > 1;
}

// The group as far as it is known before the kernel's schedule is; and with the small products as sums like any other.
Group products_of(const Group& group) { return collapse_axes(triton::ungroup(group)); }
Group without_small_products(Group products) {
  triton::sum_small_products(products);
  return products;
}

constexpr int64_t kManyChunks = 8;  // of K, from which a product that is not split leaves nearly all of a GPU idle

// A sum along few rows leaves most of a GPU idle, and so does a product: it is born split. Products are born as exact
// as what they replace.
void initial_choices(const Group& group, const Hardware& hardware, Kernel& kernel) {
  const Group products = products_of(group), large = without_small_products(products);
  if (triton::needs_split(large, hardware)) kernel.choices["split"] = "";
  if (std::any_of(products.stages.begin(), products.stages.end(),
                  [](const GroupStage& stage) { return stage.contraction.has_value(); }))
    kernel.family = Family::contraction;
  if (kernel.family != Family::contraction) return;
  if (triton::has_attention(collapse_axes(group))) kernel.family = Family::attention;
  const std::vector<std::string> ways = ways_to_multiply(large);
  if (ways.empty()) return;
  const std::string& way = kernel.choices.emplace("precision", ways.front()).first->second;
  bool idle = false, all_few = true;  // a small product says nothing of the others
  for (size_t s = 0; s < large.stages.size(); ++s) {
    const GroupStage& stage = large.stages[s];
    const bool small = products.stages[s].contraction && !stage.contraction;
    idle = idle || reads_idly(stage, way, hardware);
    all_few = all_few &&
              (small || stage.stage.combine == Combine::none || triton::chunks_of_k(stage, hardware) >= kManyChunks);
  }
  if ((way == "as_eager" && idle) || all_few) kernel.choices["split"] = "";
}

const std::vector<std::string_view> kMeasured = {"tiled", "pipelined"};

bool distinguishes(const Program& alone, const Choice& choice, const Hardware& hardware) {
  Program changed = alone;
  changed.kernels[0].choices[std::string(choice.key)] = choice.word;
  if (std::count(kMeasured.begin(), kMeasured.end(), choice.key) > 0)
    return candidates(changed, changed.kernels[0], hardware).size() > 1;
  if (choice.key == "order") {
    const auto before = print_triton_kernel(alone, alone.kernels[0], hardware);
    const auto after = print_triton_kernel(changed, changed.kernels[0], hardware);
    return before.ok() && after.ok() && before->text != after->text;
  }
  const auto group = build_group(alone, alone.kernels[0]);
  if (!group.ok()) return false;
  if (choice.key == "window") return triton::may_join_windows(triton::ungroup(*group), hardware);
  if (choice.key != "split") return true;
  const Group collapsed = without_small_products(products_of(*group));
  if (triton::can_split(collapsed, hardware)) return true;
  return !triton::has_attention(collapsed) &&
         std::any_of(collapsed.stages.begin(), collapsed.stages.end(),
                     [&](const GroupStage& stage) { return triton::chunks_of_k(stage, hardware) > 1; });
}

std::vector<std::string> precisions(const Program& program, const Kernel& kernel) {
  if (is_recurrent(program, kernel)) return {};
  const auto group = build_group(program, kernel);
  return group.ok() ? ways_to_multiply(without_small_products(products_of(*group))) : std::vector<std::string>{};
}

}  // namespace

extern const TargetDef triton_def;
// A kernel begins with the best guess of its tiles and of its pipeline's depth; "tiled" and "pipelined" have them
// measured.
const TargetDef triton_def{.name = "triton",
                           .doc = "Triton kernels for NVIDIA GPUs",
                           .device = Device::cuda,
                           .needs = "GPU",
                           .software = kSoftware,
                           .interpreter = "Triton's interpreter",
                           .rank = 2,
                           .graphs = true,
                           .words = {"tiled", "pipelined", "order", "split", "precision", "window"},
                           .measured = kMeasured,
                           .machine = gpu_machine,
                           .cost = gpu_cost,
                           .emit = emit,
                           .supports = supports,
                           .candidates = candidates,
                           .initial_choices = initial_choices,
                           .precisions = precisions,
                           .distinguishes = distinguishes};

}  // namespace mtmc
