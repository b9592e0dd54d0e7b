// Every candidate of tests/exploits is refused for one of its named reasons, every one of tests/honest is certified.
// MTMC_CORPUS=words limits the files to those whose names hold one of the (comma-separated) words, MTMC_CORPUS=@FILE to
// those that FILE lists, one a line (tools/corpus_turn.py). The hidden draws are the same in every run;
// MTMC_CORPUS_SEED=n has others, 0 those that nobody can foretell.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "eval/process_judge.h"
#include "support/source_dir.h"

namespace mtmc {
namespace {

const std::filesystem::path kRoot = source_dir();

struct Entry {
  std::string folder, name, code;
  std::string task, tier, refused;  // the header lines of the file; tests/house/corpus.py checks that they are there
  std::string accuracy, weights;    // lines that may be missing: strict or tf32; frozen
  std::string needs;                // cuda: judged on a GPU, by the tests whose names begin with Gpu
  std::string open;                 // yes: the judge is known to be wrong about it (docs/JUDGE.md lists them)
  std::string at_most;              // of a kernel that is right and lies about its time: a speed that is no lie
  std::string own_at_most;          // of one that has others do its work: what its own kernels' share may be at most

  bool honest() const { return folder == "honest"; }
  bool compiles() const { return code.find("torch.compile") != code.npos; }  // a first call takes long
  bool hangs() const { return name.starts_with("hangs"); }                   // all of its time limit
  // Who differs in these has another judge.
  using Options = std::tuple<std::string, std::string, bool, bool>;
  Options options() const { return {accuracy, weights, honest() && compiles(), hangs()}; }
  auto order() const { return std::tuple(options(), task, folder, name); }
  // A result that is not finite is a wrong one: which draw shows it first is chance.
  bool expects(const std::string& reason) const {
    const auto reasons = split(refused, ',');
    if (reason == "non-finite" && expects("wrong-result")) return true;
    return std::any_of(reasons.begin(), reasons.end(), [&](const std::string& word) { return trim(word) == reason; });
  }
};

std::string header_line(const std::string& code, const std::string& key) {
  const std::string mark = "\n" + key + ": ";
  const size_t start = code.find(mark);
  if (start == std::string::npos) return "";
  const size_t from = start + mark.size();
  return code.substr(from, code.find('\n', from) - from);
}

// A list is no variable's value: candidates look for words in those.
std::vector<std::string> listed_in(const std::string& file) {
  const Result<std::string> names = read_file(file);
  EXPECT_TRUE(names.ok()) << file;
  return names.ok() ? split(*names, '\n') : std::vector<std::string>();
}

bool is_chosen(const std::string& name) {
  const char* variable = std::getenv("MTMC_CORPUS");
  if (variable == nullptr) return true;
  const std::string words = variable;
  if (words.starts_with("@")) {
    static const std::vector<std::string> names = listed_in(words.substr(1));
    return std::count(names.begin(), names.end(), name) > 0;
  }
  const auto listed = split(words, ',');
  return std::any_of(listed.begin(), listed.end(),
                     [&](const std::string& word) { return name.find(word) != std::string::npos; });
}

// By options and task, so that each task's truth is computed once. `needs`: empty, or cuda.
std::vector<Entry> read_corpus(const std::string& folder, const std::string& needs = "") {
  std::vector<Entry> entries;
  for (const auto& file : std::filesystem::directory_iterator(kRoot / "tests" / folder)) {
    const std::string name = file.path().stem().string();
    if (file.path().extension() != ".py" || !is_chosen(name)) continue;
    const Result<std::string> code = read_file(file.path());
    EXPECT_TRUE(code.ok()) << file.path();
    if (!code.ok()) continue;
    if (header_line(*code, "needs") != needs) continue;
    entries.push_back({folder, name, *code, header_line(*code, "task"), header_line(*code, "tier"),
                       header_line(*code, "refused"), header_line(*code, "accuracy"), header_line(*code, "weights"),
                       needs, header_line(*code, "open"), header_line(*code, "at most"),
                       header_line(*code, "own kernels at most")});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.order() < b.order(); });
  return entries;
}

// `FILE` holds a class Model; `FILE:NAME` a function.
Task task_of(const std::string& text) {
  const auto parts = split(text, ':');
  const bool function = parts.size() > 1;
  const Json json = {{"name", std::filesystem::path(parts[0]).stem().string()},
                     {"file", (kRoot / parts[0]).string()},
                     {"attr", function ? parts[1] : "Model"},
                     {"kind", function ? "function" : "class"}};
  return {json.at("name"), json.dump()};
}

// What a file is to the part it belongs to, in seconds.
double seconds_of(const Entry& entry) {
  const bool certify = entry.tier == "certify";
  return entry.honest() ? (certify ? 6 : 1.5) : (certify ? 2.5 : 1);
}

// Parts run beside each other. All files of a task belong to one, so that its truth is computed once; and so do all
// that have the same unusual options, so that their judge is started once.
constexpr size_t kParts = 4;
constexpr double kStart = 5, kOpen = 2;  // seconds: of a judge, of a task
constexpr int kThreads = 1;              // of each process: who waits for a thread that has no core spins
std::vector<Entry> part_of(const std::vector<Entry>& all, size_t part) {
  const Entry::Options usual;
  using Group = std::pair<Entry::Options, std::string>;
  const auto group_of = [&](const Entry& entry) {
    return Group(entry.options(), entry.options() == usual ? entry.task : "");
  };
  std::map<Group, double> seconds;
  for (const Entry& entry : all) {
    const Group group = group_of(entry);
    const auto known = seconds.emplace(group, kOpen + (group.first == usual ? 0 : kStart)).first;
    known->second += seconds_of(entry);
  }
  std::vector<std::pair<double, Group>> groups;
  for (const auto& [group, most] : seconds) groups.emplace_back(most, group);
  std::sort(groups.rbegin(), groups.rend());  // the longest first, each to the part that has least
  std::array<double, kParts> filled{};
  std::map<Group, size_t> parts;
  for (const auto& [most, group] : groups) {
    const auto least = std::min_element(filled.begin(), filled.end());
    parts[group] = static_cast<size_t>(least - filled.begin());
    *least += most;
  }
  std::vector<Entry> found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found),
               [&](const Entry& entry) { return parts.at(group_of(entry)) == part; });
  return found;
}

// One line a candidate: verdict, reason, seconds, name, message.
Result<Verdict> judge_entry(Judge& judge, const Entry& entry) {
  const Tier tier = entry.tier == "certify" ? Tier::certify : Tier::screen;
  Result<Verdict> verdict = judge.judge(task_of(entry.task), {entry.code, nullptr}, tier);
  if (verdict.ok()) {
    fmt::print("{:7} {:10} {:22} {:5.1f} s  {:32} {}\n", to_string(tier), to_string(verdict->outcome), verdict->reason,
               verdict->seconds, entry.name, verdict->message.substr(0, 120));
    std::fflush(stdout);
  }
  return verdict;
}

// Judges all entries with one judge for each set of options, and hands each verdict to `check`.
void judge_all(const std::vector<Entry>& entries, const JudgeOptions& options,
               const std::function<void(const Entry&, const Result<Verdict>&)>& check) {
  std::unique_ptr<Judge> judge;
  std::optional<Entry::Options> made_for;
  for (const Entry& entry : entries) {
    if (made_for != entry.options()) {
      JudgeOptions own = options;
      own.accuracy = entry.accuracy.empty() ? Accuracy::eager : accuracy_named(entry.accuracy);
      own.freeze_weights = entry.weights == "frozen";
      if (entry.honest() && entry.compiles()) own.call_seconds = 120, own.memory_bytes = 0;  // the machine may be busy
      if (entry.hangs()) own.load_seconds = 5, own.call_seconds = 3;
      judge = make_process_judge(own);
      made_for = entry.options();
    }
    check(entry, judge_entry(*judge, entry));
  }
}

// A failure can be repeated; how often a file gets through, a sweep over seeds tells.
JudgeOptions corpus_options() {
  JudgeOptions options;
  const char* seed = std::getenv("MTMC_CORPUS_SEED");
  options.seed = seed == nullptr ? 1 : std::stoull(seed);
  return options;
}

JudgeOptions short_limits() {
  JudgeOptions options = corpus_options();
  options.load_seconds = 15, options.call_seconds = 4, options.memory_bytes = size_t{2} << 30;
  options.threads = kThreads, options.measures_on = false;  // nobody reads a speed here
  options.cache_bytes = 16e6;  // `remembers_mean` needs fewer bytes to be caught, sweeping takes less time
  return options;
}

void expect_refused(const Entry& entry, const Result<Verdict>& verdict) {
  ASSERT_TRUE(verdict.ok()) << entry.name << ": " << verdict.error().message();
  if (entry.open == "yes") {
    EXPECT_FALSE(entry.expects(verdict->reason)) << entry.name << " is refused by now: it is not `open` any more";
    return;
  }
  if (!entry.at_most.empty() && verdict->certified()) {
    // Nobody can tell a clock that is off by less than the noise that the verdict states (docs/JUDGE.md).
    const double time = verdict->time_ms.value_or(0), noise = verdict->clock_noise_ms.value_or(0);
    EXPECT_LT(verdict->speedup.at("eager").low * time / (time + noise), std::stod(entry.at_most))
        << entry.name << " fooled the clock";
    return;
  }
  if (!entry.own_at_most.empty() && verdict->certified()) {
    EXPECT_LE(verdict->own_kernel_share.value_or(0), std::stod(entry.own_at_most)) << entry.name << " fooled the judge";
    return;
  }
  EXPECT_FALSE(verdict->certified()) << entry.name << " fooled the judge";
  EXPECT_TRUE(entry.expects(verdict->reason))
      << entry.name << ": got " << verdict->reason << " (" << verdict->message << "), wanted " << entry.refused;
}

void expect_certified(const Entry& entry, const Result<Verdict>& verdict) {
  ASSERT_TRUE(verdict.ok()) << entry.name << ": " << verdict.error().message();
  if (entry.open == "yes") {
    EXPECT_FALSE(verdict->certified()) << entry.name << " is certified by now: it is not `open` any more";
    return;
  }
  EXPECT_TRUE(verdict->certified()) << entry.name << ": " << verdict->reason << " (" << verdict->message << ")";
  const bool labelled = std::count(verdict->notes.begin(), verdict->notes.end(), "frozen-weights") > 0;
  EXPECT_EQ(labelled, entry.weights == "frozen") << entry.name;
  if (!entry.own_at_most.empty()) {
    EXPECT_LE(verdict->own_kernel_share.value_or(1), std::stod(entry.own_at_most)) << entry.name;
    EXPECT_EQ(verdict->library_use, "any") << entry.name;
  }
  if (entry.accuracy == "tf32") {
    EXPECT_EQ(verdict->accuracy_class, "tf32") << entry.name;
  }
}

void expect_named(const Entry& entry, const Result<Verdict>& verdict) {
  entry.honest() ? expect_certified(entry, verdict) : expect_refused(entry, verdict);
}

class CorpusPart : public testing::TestWithParam<size_t> {};
INSTANTIATE_TEST_SUITE_P(Corpus, CorpusPart, testing::Range(size_t{0}, kParts));

// One judge for both: it must be as right about an honest kernel after it has met the exploits of the same task.
TEST_P(CorpusPart, exploits_are_refused_for_their_named_reason_and_honest_kernels_are_certified) {
  std::vector<Entry> all = read_corpus("exploits");
  const std::vector<Entry> honest = read_corpus("honest");
  all.insert(all.end(), honest.begin(), honest.end());
  std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.order() < b.order(); });
  judge_all(part_of(all, GetParam()), short_limits(), expect_named);
}

// What the processes and the audit refuse does not need the kernel's help. Exploits that would reach for other people's
// processes or files are left to the strongest level.
TEST(Corpus, exploits_are_refused_at_every_level_of_the_sandbox) {
  const std::set<std::string> names = {"fork_bomb",        "leaves_daemon", "eats_memory", "edits_judge",
                                       "downloads_kernel", "segfaults",     "hangs"};
  for (const std::string level : {"namespaces", "rlimits"}) {
    JudgeOptions options = short_limits();
    options.sandbox = level, options.load_seconds = 8;
    const auto judge = make_process_judge(options);
    for (const Entry& entry : read_corpus("exploits")) {
      if (!names.contains(entry.name)) continue;
      const Result<Verdict> verdict = judge_entry(*judge, entry);
      ASSERT_TRUE(verdict.ok()) << level << ", " << entry.name << ": " << verdict.error().message();
      EXPECT_TRUE(entry.expects(verdict->reason)) << level << ", " << entry.name << ": got " << verdict->reason;
      EXPECT_TRUE(verdict->sandbox == level || verdict->sandbox == "rlimits") << verdict->sandbox;
    }
    for (const Entry& entry : read_corpus("honest")) {
      if (entry.name != "softmax_online") continue;
      const Result<Verdict> verdict = judge_entry(*judge, entry);
      ASSERT_TRUE(verdict.ok()) << level << ", " << entry.name << ": " << verdict.error().message();
      EXPECT_TRUE(verdict->certified()) << level << ", " << entry.name << ": " << verdict->message;
    }
  }
}

// The files that say `needs: cuda`; tests/python/gpu_corpus_test.py imports them everywhere.
class GpuCorpus : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_gpu()) GTEST_SKIP() << "this machine has no NVIDIA GPU";
    options_.device = "cuda", options_.load_seconds = 60, options_.call_seconds = 6;
  }
  JudgeOptions options_ = corpus_options();
};

TEST_F(GpuCorpus, honest_kernels_are_certified) {
  judge_all(read_corpus("honest", "cuda"), options_, expect_certified);
}

TEST_F(GpuCorpus, exploits_are_refused_for_their_named_reason) {
  options_.load_seconds = 15;
  judge_all(read_corpus("exploits", "cuda"), options_, expect_refused);
}

}  // namespace
}  // namespace mtmc
