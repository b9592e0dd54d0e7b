// Store on one SQLite file.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <ctime>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/text.h"
#include "store/schema.h"
#include "store/sqlite.h"
#include "store/store.h"

namespace mtmc {
namespace {

std::string now_utc() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> buffer{};
  std::strftime(buffer.data(), buffer.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return buffer.data();
}

// When a process started, in clock ticks since boot: with the pid it names a process for good. Empty when it is gone.
std::string start_of(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string stat;
  std::getline(file, stat);
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return "";
  const auto fields = split(std::string_view(stat).substr(name_end + 2), ' ');  // from field 3, "state", on
  if (fields.size() < 20 || fields[0] == "Z") return "";
  return fields[19];
}

// "host:pid:start"
std::string this_process() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const std::string pid = std::to_string(getpid());
  return fmt::format("{}:{}:{}", host.data(), pid, start_of(pid));
}

// A process of another host counts as alive: nobody here can tell.
bool alive(const std::string& owner) {
  const auto parts = split(owner, ':');
  if (parts.size() != 3) return false;
  return parts[0] != split(this_process(), ':')[0] || (!parts[2].empty() && start_of(parts[1]) == parts[2]);
}

// Whether the same code would get the same word again, whatever else the machine is doing.
bool reusable(const Verdict& verdict) {
  if (const Speedup* eager = speedup_over(verdict, "eager"); eager != nullptr && !has_figure(*eager)) return false;
  return !is_of_the_moment(verdict.reason);
}

Cell text_or_null(const std::string& hash) { return hash.empty() ? Cell{} : Cell{hash}; }

Result<Verdict> parse_verdict(const std::string& json) { return verdict_from_json(Json::parse(json)); }

constexpr const char* kRunColumns =
    "id, task_name, task_json, source, task_hash, target, hardware, options, options_hash, shell, seed, evaluator, "
    "started, state, seconds, result, owner";

Result<RunRecord> run_from(const Row& row) {
  RunRecord run;
  run.id = integer(row[0]);
  run.task = {text(row[1]), text(row[2])};
  run.source = text(row[3]), run.task_hash = text(row[4]), run.target = text(row[5]);
  MTMC_TRY(run.hardware, hardware_from_json(Json::parse(text(row[6]))));
  run.options = text(row[7]), run.options_hash = text(row[8]), run.shell = text(row[9]);
  run.seed = std::stoull(text(row[10])), run.evaluator = text(row[11]), run.started = text(row[12]);
  const std::string& state = text(row[13]);
  const bool goes_on = state == "running" && alive(text(row[16]));  // an interrupt or a kill leaves the word as it was
  run.state = state == "done" ? RunState::done : goes_on ? RunState::running : RunState::interrupted;
  run.seconds = std::get<double>(row[14]);
  if (const Json ended = Json::parse(text(row[15]), nullptr, false); ended.is_object())
    run.conclusion = Conclusion{ended.value("answer", ""), ended.value("node", kNoNode)};
  return run;
}

constexpr const char* kNodeQuery =
    "SELECT n.id, n.run, n.parent, n.step, n.action, n.rendered, n.rewrites, n.coder, p.text, n.state_hash, c.text, "
    "n.code_hash, n.failure, n.note, n.created, s.verdict, v.verdict, n.partner FROM nodes n "
    "LEFT JOIN texts p ON p.hash = n.program_hash LEFT JOIN texts c ON c.hash = n.code_hash "
    "LEFT JOIN node_verdicts ns ON ns.node = n.id AND ns.tier = 'screen' LEFT JOIN verdicts s ON s.id = ns.verdict "
    "LEFT JOIN node_verdicts nc ON nc.node = n.id AND nc.tier = 'certify' LEFT JOIN verdicts v ON v.id = nc.verdict ";

Result<NodeRecord> node_from(const Row& row) {
  NodeRecord node;
  node.id = integer(row[0]), node.run = integer(row[1]), node.parent = integer(row[2]);
  node.step = static_cast<int>(integer(row[3]));
  node.action = text(row[4]), node.rendered = text(row[5]), node.rewrites = integer(row[6]) != 0;
  node.coder = text(row[7]), node.program = text(row[8]), node.state_hash = text(row[9]);
  node.code = text(row[10]), node.code_hash = text(row[11]), node.failure = text(row[12]), node.note = text(row[13]);
  node.created = text(row[14]), node.partner = integer(row[17]);
  if (!text(row[15]).empty()) {
    MTMC_TRY(node.screen, parse_verdict(text(row[15])));
  }
  if (!text(row[16]).empty()) {
    MTMC_TRY(node.certify, parse_verdict(text(row[16])));
  }
  return node;
}

class SqliteStore : public Store {
 public:
  explicit SqliteStore(Database database) : database_(std::move(database)) {}

  Result<RunId> begin_run(const RunRecord& run) override {
    const std::lock_guard lock(mutex_);
    MTMC_RETURN_IF_ERROR(database_.run(
        "INSERT INTO runs (task_name, task_json, source, task_hash, target, hardware, options, options_hash, shell, "
        "seed, evaluator, started, state, owner, seconds, result) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,'running',?,0.0,'')",
        {run.task.name, run.task.json, run.source, run.task_hash, run.target, to_json(run.hardware).dump(), run.options,
         sha256(run.options), run.shell, std::to_string(run.seed), run.evaluator, now_utc(), this_process()}));
    return database_.last_insert_id();
  }

  Result<std::optional<RunRecord>> find_resumable(const std::string& task_hash,
                                                  const std::string& options_hash) override {
    const std::lock_guard lock(mutex_);
    std::optional<RunRecord> found;
    const Status kept = database_.transaction([&]() -> Status {
      MTMC_TRY(const auto rows,
               database_.query(fmt::format("SELECT {} FROM runs WHERE task_hash = ? AND options_hash = ? AND "
                                           "state != 'done' ORDER BY id DESC",
                                           kRunColumns),
                               {task_hash, options_hash}));
      for (const Row& row : rows) {
        MTMC_TRY(RunRecord run, run_from(row));
        if (run.state == RunState::running) continue;
        found = std::move(run);
        found->state = RunState::running;
        return database_.run("UPDATE runs SET state = 'running', owner = ? WHERE id = ?", {this_process(), found->id});
      }
      return ok_status();
    });
    if (!kept.ok()) return kept.error();
    return found;
  }

  Status finish_run(RunId id, double seconds, const std::optional<Conclusion>& conclusion) override {
    const std::lock_guard lock(mutex_);
    const RunState state = conclusion ? RunState::done : RunState::interrupted;
    const std::string result =
        conclusion ? Json({{"answer", conclusion->answer}, {"node", conclusion->node}}).dump() : "";
    return database_.run("UPDATE runs SET state = ?, seconds = ?, result = ? WHERE id = ?",
                         {to_string(state), seconds, result, id});
  }

  Result<NodeId> add_node(const NodeRecord& node) override {
    const std::lock_guard lock(mutex_);
    MTMC_CHECK(node.code.empty() != node.failure.empty(), "an attempt has either code or a reason why not");
    NodeId id = kNoNode;
    const Status kept = database_.transaction([&]() -> Status {
      const std::string code_hash = node.code.empty() ? "" : sha256(node.code);
      MTMC_TRY(const auto known, database_.query("SELECT id FROM nodes WHERE run = ? AND parent = ? AND action = ? AND "
                                                 "coalesce(code_hash, '') = ?",
                                                 {node.run, node.parent, node.action, code_hash}));
      if (!known.empty()) {
        id = integer(known[0][0]);
      } else {
        MTMC_RETURN_IF_ERROR(insert(node, code_hash));
        id = database_.last_insert_id();
      }
      if (node.screen) MTMC_RETURN_IF_ERROR(attach(id, *node.screen));
      if (node.certify) MTMC_RETURN_IF_ERROR(attach(id, *node.certify));
      return ok_status();
    });
    if (!kept.ok()) return kept.error();
    return id;
  }

  Status add_verdict(NodeId node, const Verdict& verdict) override {
    const std::lock_guard lock(mutex_);
    return database_.transaction([&] { return attach(node, verdict); });
  }

  Result<std::optional<Verdict>> find_verdict(const VerdictKey& key) override {
    const std::lock_guard lock(mutex_);
    MTMC_TRY(const auto rows,
             database_.query("SELECT verdict FROM verdicts WHERE code_hash = ? AND task_hash = ? AND tier = ? AND "
                             "evaluator = ? AND hardware = ? AND (reusable OR ?) ORDER BY id DESC LIMIT 1",
                             {key.code_hash, key.task_hash, to_string(key.tier), key.evaluator, key.hardware,
                              int64_t{key.of_the_moment}}));
    if (rows.empty()) return std::optional<Verdict>{};
    MTMC_TRY(Verdict verdict, parse_verdict(text(rows[0][0])));
    return std::optional<Verdict>(std::move(verdict));
  }

  Result<std::vector<RunRecord>> runs() override {
    const std::lock_guard lock(mutex_);
    return read_all<RunRecord>(fmt::format("SELECT {} FROM runs ORDER BY id", kRunColumns), {}, run_from);
  }

  Result<RunRecord> run(RunId id) override {
    const std::lock_guard lock(mutex_);
    MTMC_TRY(auto found,
             read_all<RunRecord>(fmt::format("SELECT {} FROM runs WHERE id = ?", kRunColumns), {id}, run_from));
    if (!found.empty()) return std::move(found[0]);
    return Error{"reading the store " + database_.path().string(), "no such run", std::to_string(id),
                 "one of those that `mtmc show` lists"};
  }

  Result<std::vector<NodeRecord>> nodes(RunId run) override {
    const std::lock_guard lock(mutex_);
    return read_all<NodeRecord>(std::string(kNodeQuery) + "WHERE n.run = ? ORDER BY n.id", {run}, node_from);
  }

  Result<NodeRecord> node(NodeId id) override {
    const std::lock_guard lock(mutex_);
    MTMC_TRY(auto found, read_all<NodeRecord>(std::string(kNodeQuery) + "WHERE n.id = ?", {id}, node_from));
    if (!found.empty()) return std::move(found[0]);
    return Error{"reading the store " + database_.path().string(), "no such node", std::to_string(id),
                 "one of those that `mtmc show RUN` lists"};
  }

  Result<std::optional<std::string>> recall(std::string_view kind, std::string_view key) override {
    const std::lock_guard lock(mutex_);
    MTMC_TRY(const auto rows, database_.query("SELECT value FROM cache WHERE kind = ? AND key = ?",
                                              {std::string(kind), std::string(key)}));
    return rows.empty() ? std::optional<std::string>{} : std::optional<std::string>(text(rows[0][0]));
  }

  Status remember(std::string_view kind, std::string_view key, std::string_view value) override {
    const std::lock_guard lock(mutex_);
    return database_.run("INSERT OR REPLACE INTO cache (kind, key, value, created) VALUES (?,?,?,?)",
                         {std::string(kind), std::string(key), std::string(value), now_utc()});
  }

 private:
  template <typename T>
  Result<std::vector<T>> read_all(const std::string& sql, const std::vector<Cell>& values,
                                  Result<T> (*read)(const Row&)) {
    MTMC_TRY(const auto rows, database_.query(sql, values));
    std::vector<T> all;
    for (const Row& row : rows) {
      MTMC_TRY(T one, read(row));
      all.push_back(std::move(one));
    }
    return all;
  }

  Status keep_text(const std::string& hash, const std::string& content) {
    if (content.empty()) return ok_status();
    return database_.run("INSERT OR IGNORE INTO texts (hash, text) VALUES (?,?)", {hash, content});
  }

  Status insert(const NodeRecord& node, const std::string& code_hash) {
    const std::string program_hash = node.program.empty() ? "" : sha256(node.program);
    MTMC_RETURN_IF_ERROR(keep_text(code_hash, node.code));
    MTMC_RETURN_IF_ERROR(keep_text(program_hash, node.program));
    return database_.run(
        "INSERT INTO nodes (run, parent, step, action, rendered, rewrites, coder, program_hash, state_hash, code_hash, "
        "failure, note, created, partner) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        {node.run, node.parent, int64_t{node.step}, node.action, node.rendered, int64_t{node.rewrites}, node.coder,
         text_or_null(program_hash), node.state_hash, text_or_null(code_hash), node.failure, node.note, now_utc(),
         node.partner});
  }

  // Inside a transaction: keeps the verdict and makes it the node's word for its tier. A verdict that the store already
  // holds (found by find_verdict, or attached before) is not kept twice.
  Status attach(NodeId node, const Verdict& verdict) {
    const std::string tier = to_string(verdict.tier), json = to_json(verdict).dump();
    MTMC_TRY(const auto rows, database_.query("SELECT r.task_hash, r.hardware, n.code_hash FROM nodes n JOIN runs r ON "
                                              "r.id = n.run WHERE n.id = ?",
                                              {node}));
    MTMC_CHECK(!rows.empty(), fmt::format("a verdict for node {}, which does not exist", node));
    const std::string task_hash = text(rows[0][0]), code_hash = text(rows[0][2]);
    MTMC_CHECK(!code_hash.empty(), fmt::format("a verdict for node {}, which has no code", node));
    const std::string hardware = Json::parse(text(rows[0][1])).at("name");
    MTMC_TRY(const auto known,
             database_.query("SELECT id FROM verdicts WHERE code_hash = ? AND task_hash = ? AND tier = ? "
                             "AND evaluator = ? AND hardware = ? AND verdict = ?",
                             {code_hash, task_hash, tier, verdict.evaluator, hardware, json}));
    int64_t id = known.empty() ? 0 : integer(known[0][0]);
    if (known.empty()) {
      MTMC_RETURN_IF_ERROR(database_.run(
          "INSERT INTO verdicts (task_hash, code_hash, tier, evaluator, hardware, reusable, outcome, reason, time_ms, "
          "verdict, created) VALUES (?,?,?,?,?,?,?,?,?,?,?)",
          {task_hash, code_hash, tier, verdict.evaluator, hardware, int64_t{reusable(verdict)},
           to_string(verdict.outcome), verdict.reason, verdict.time_ms ? Cell{*verdict.time_ms} : Cell{}, json,
           now_utc()}));
      id = database_.last_insert_id();
    }
    return database_.run("INSERT OR REPLACE INTO node_verdicts (node, tier, verdict) VALUES (?,?,?)", {node, tier, id});
  }

  std::mutex mutex_;  // of the connection: a transaction is its thread's alone
  Database database_;
};

}  // namespace

Result<std::unique_ptr<Store>> open_store(const std::filesystem::path& path, OpenFor purpose) {
  MTMC_TRY(Database database, Database::open(path, purpose == OpenFor::writing ? Access::write : Access::read));
  if (purpose == OpenFor::writing) {
    MTMC_RETURN_IF_ERROR(migrate(database));
  } else {
    MTMC_RETURN_IF_ERROR(check_schema(database));
  }
  return std::unique_ptr<Store>(std::make_unique<SqliteStore>(std::move(database)));
}

}  // namespace mtmc
