// How many candidates the judge screens per second, and how long a certification takes:
//   ninja -C build/release bench_judge && build/release/bench_judge [TASK CANDIDATE [SCREENS]]
// A candidate for the GPU is judged there.
#include <fmt/core.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/file.h"
#include "base/process.h"
#include "eval/process_judge.h"
#include "eval/stats.h"

namespace {

using namespace mtmc;

Result<double> seconds_of(Judge& judge, const Task& task, const Candidate& candidate, Tier tier,
                          std::vector<Speedup>* speedups = nullptr) {
  const double start = now_seconds();
  MTMC_TRY(const Verdict verdict, judge.judge(task, candidate, tier));
  if (!verdict.certified()) return Error{"timing the judge", "the candidate is refused", verdict.message, ""};
  if (speedups != nullptr) speedups->push_back(verdict.speedup.at("eager"));
  return now_seconds() - start;
}

// Of a candidate that does what eager does the medians are near 1, and the intervals hold 1.
void print_speedups(const std::vector<Speedup>& found) {
  std::vector<double> medians;
  int holding = 0;
  for (const Speedup& one : found) medians.push_back(one.median), holding += one.low <= 1 && 1 <= one.high;
  fmt::print("times faster than eager: {:.3f} to {:.3f}, median {:.3f}; {} of {} intervals hold 1\n",
             quantile(medians, 0), quantile(medians, 1), median(medians), holding, found.size());
}

Result<int> bench(const std::filesystem::path& file, const std::filesystem::path& kernel, int screens) {
  MTMC_TRY(const std::string code, read_file(kernel));
  const Task task{file.stem(),
                  Json{{"name", file.stem()}, {"file", std::filesystem::absolute(file)}, {"attr", "Model"}}.dump()};
  JudgeOptions options;
  options.device = device_for(code);
  const auto judge = make_process_judge(options);
  MTMC_TRY(const double first, seconds_of(*judge, task, {code, nullptr}, Tier::screen));
  // Compiled anew each time. The second half is prepared while the one before is judged, as a search does.
  const auto fresh = [&](int i) { return Candidate{fmt::format("{}\n# {}\n", code, i), nullptr}; };
  std::vector<double> seconds, prepared;
  std::vector<Speedup> speedups;
  for (int i = 0; i < screens; ++i) {
    MTMC_TRY(const double taken, seconds_of(*judge, task, fresh(i), Tier::screen, &speedups));
    seconds.push_back(taken);
  }
  for (int i = screens; i < 2 * screens; ++i) {
    const double start = now_seconds();
    MTMC_RETURN_IF_ERROR(judge->prepare(task, fresh(i + 1)));
    MTMC_RETURN_IF_ERROR(seconds_of(*judge, task, fresh(i), Tier::screen));
    prepared.push_back(now_seconds() - start);
  }
  MTMC_TRY(const double certify, seconds_of(*judge, task, {code, nullptr}, Tier::certify));
  fmt::print(
      "first screen {:.2f} s (processes, truth), then median {:.3f} s: {:.2f} screens per second, {:.2f} of candidates "
      "that were prepared; certify {:.2f} s\n",
      first, median(seconds), 1 / median(seconds), 1 / median(prepared), certify);
  print_speedups(speedups);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path root = MTMC_SOURCE_DIR;
  const auto result =
      bench(argc > 2 ? argv[1] : root / "tests/tasks/linear_gelu.py",
            argc > 2 ? argv[2] : root / "tests/honest/linear_gelu_specialised.py", argc > 3 ? std::atoi(argv[3]) : 20);
  if (!result.ok()) fmt::print(stderr, "{}\n", result.error().message());
  return result.ok() ? 0 : 1;
}
