// `mtmc doctor`: what was found on this machine, and what each missing piece costs.
#include <fmt/core.h>
#include <sys/utsname.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/file.h"
#include "base/json.h"
#include "base/process.h"
#include "base/tempdir.h"
#include "base/text.h"
#include "base/variables.h"
#include "cli/verb.h"
#include "cli/version.h"

namespace mtmc {
namespace {

struct Finding {
  std::string name, found;  // `found` is empty when the piece is missing
  std::string cost;         // of its absence; or a remark
};

// The first line that a command prints; empty when it fails.
std::string first_line(std::vector<std::string> argv) {
  const auto done = run({std::move(argv), {}, {}, 60});
  if (!done.ok() || done->exit_code != 0) return "";
  const std::string& text = done->out.empty() ? done->err : done->out;
  return std::string(trim(text.substr(0, text.find('\n'))));
}

Finding find_machine() {
  std::string model = "unknown processor", line;
  std::ifstream cpuinfo("/proc/cpuinfo");
  while (std::getline(cpuinfo, line))
    if (line.starts_with("model name")) model = trim(std::string_view(line).substr(line.find(':') + 1));
  std::ifstream meminfo("/proc/meminfo");
  std::string word;
  double kib = 0;
  meminfo >> word >> kib;
  return {"machine", fmt::format("{}, {} cores, {:.0f} GiB", model, std::thread::hardware_concurrency(), kib / 1048576),
          ""};
}

Finding find_openmp(const std::string& compiler) {
  const TempDir folder;
  const auto source = folder.path() / "a.cpp", program = folder.path() / "a";
  const auto written = write_file(source, "#include <omp.h>\nint main() { return omp_get_max_threads() < 1; }\n");
  const auto built = run({{compiler, "-fopenmp", source.string(), "-o", program.string()}, {}, {}, 60});
  const bool works = written.ok() && built.ok() && built->exit_code == 0 && run({{program.string()}, {}, {}, 10}).ok();
  return {"OpenMP", works ? "works" : "", "kernels for the target cpu run on one core"};
}

Finding find_sandbox() {
  const std::vector<std::string> inside = {"--ro-bind", "/", "/", "--dev", "/dev", "--unshare-all", "true"};
  std::vector<std::string> bubblewrap = {"bwrap"};
  bubblewrap.insert(bubblewrap.end(), inside.begin(), inside.end());
  if (const auto done = run({bubblewrap, {}, {}, 10}); done.ok() && done->exit_code == 0)
    return {"sandbox", "bubblewrap", ""};
  if (const auto done = run({{"unshare", "--user", "--map-root-user", "--net", "true"}, {}, {}, 10});
      done.ok() && done->exit_code == 0)
    return {"sandbox", "user namespaces", "bubblewrap would hide the file system too: install the package bubblewrap"};
  return {"sandbox", "", "candidates run with resource limits only; install bubblewrap before judging code of others"};
}

Result<Json> ask_python() {
  const std::string python = python_program();
  MTMC_TRY(const Finished done, run({{python, "-m", "mtmc.device.doctor"}, {}, {}, 120}));
  Json found = Json::parse(done.out, nullptr, false);
  if (done.exit_code != 0 || !found.is_object())
    return Error{"asking " + python + " what it offers", "it fails", std::string(trim(done.err)), "a Python >= 3.10"};
  return found;
}

std::string text_of(const Json& found, const char* key) {
  return found.at(key).is_string() ? found.at(key).get<std::string>() : "";
}

void find_python(const Json& found, std::vector<Finding>& findings) {
  findings.push_back({"Python", text_of(found, "python") + ", " + text_of(found, "executable"), ""});
  const std::string broken = text_of(found, "torch_error");
  findings.push_back(
      {"torch",
       broken.empty() ? fmt::format("{}, {} threads", text_of(found, "torch"), found.at("threads").get<int>()) : "",
       "nothing can be traced or judged: " + broken});
  findings.push_back({"Triton", text_of(found, "triton"), "Triton kernels cannot be run or tested here"});
  std::string devices;
  for (const Json& device : found.at("devices")) devices += (devices.empty() ? "" : "; ") + device.get<std::string>();
  findings.push_back(
      {"GPU", devices, "kernels for the target triton are emitted and checked, but not timed; cpu is judged"});
  findings.push_back({"nvcc", first_line({"nvcc", "--version"}).empty() ? "" : "found",
                      "only kernel files that call it need it: the target cuda has NVRTC, which comes with torch"});
}

Result<int> diagnose(bool as_json) {
  const std::string compiler = variable("CXX", "g++");
  std::vector<Finding> findings;
  findings.push_back(find_machine());
  const std::string version = first_line({compiler, "--version"});
  findings.push_back({"compiler", version, compiler + " is missing: the target cpu cannot build kernels"});
  if (!version.empty()) findings.push_back(find_openmp(compiler));
  findings.push_back(
      {"ccache", first_line({"ccache", "--version"}), "rebuilding mtmc takes minutes instead of seconds"});
  findings.push_back(find_sandbox());
  MTMC_TRY(const Json python, ask_python());
  find_python(python, findings);
  const bool usable = !version.empty() && python.at("torch_error").is_null();
  if (as_json) {
    Json all = {{"mtmc", version_line()}};
    for (const Finding& f : findings) all[f.name] = f.found.empty() ? Json(nullptr) : Json(f.found);
    fmt::print("{}\n", all.dump(2));
    return usable ? kDone : kNotBetter;
  }
  fmt::print("{}\n", version_line());
  for (const Finding& f : findings) {
    fmt::print("{:<8} {:<9} {}\n", f.found.empty() ? "missing" : "ok", f.name, f.found.empty() ? f.cost : f.found);
    if (!f.found.empty() && !f.cost.empty() && f.name == "sandbox") fmt::print("{:18} {}\n", "", f.cost);
  }
  const bool gpu = usable && !python.at("devices").empty() && !text_of(python, "triton").empty();
  fmt::print("{}\n", gpu      ? "mtmc optimize works here with --target triton and --target cpu"
                     : usable ? "mtmc optimize works here with --target cpu"
                              : "mtmc optimize does not work here until what is missing above is installed");
  return usable ? kDone : kNotBetter;
}

VerbBody declare(Options& options) {
  auto as_json = std::make_shared<bool>(false);
  options.flag(*as_json, "--json", "print the findings as JSON");
  return [as_json] { return diagnose(*as_json); };
}

}  // namespace

extern const Verb doctor_def;
const Verb doctor_def{"doctor", "What was found on this machine, and what each missing piece costs.", declare};

}  // namespace mtmc
