#include "store/schema.h"

#include <fmt/format.h>

#include <array>

namespace mtmc {
namespace {

// texts: code and Programs, named by their SHA-256. verdicts: `reusable` is 0 where the machine's state of the moment
// decided; among equal keys the newest counts. nodes: parent 0 is the start's (NULLs would not be unique in SQLite).
constexpr const char* kVersion1 = R"sql(
CREATE TABLE runs (
  id INTEGER PRIMARY KEY, task_name TEXT NOT NULL, task_json TEXT NOT NULL, source TEXT NOT NULL,
  task_hash TEXT NOT NULL, target TEXT NOT NULL, hardware TEXT NOT NULL, options TEXT NOT NULL,
  options_hash TEXT NOT NULL, shell TEXT NOT NULL, seed TEXT NOT NULL, evaluator TEXT NOT NULL, started TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('running', 'interrupted', 'done')), owner TEXT NOT NULL,
  seconds REAL NOT NULL, result TEXT NOT NULL);
CREATE INDEX runs_by_task ON runs (task_hash, options_hash);
CREATE TABLE texts (hash TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE nodes (
  id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES runs (id), parent INTEGER NOT NULL, step INTEGER NOT NULL,
  action TEXT NOT NULL, rendered TEXT NOT NULL, rewrites INTEGER NOT NULL, coder TEXT NOT NULL,
  program_hash TEXT REFERENCES texts (hash), state_hash TEXT NOT NULL, code_hash TEXT REFERENCES texts (hash),
  failure TEXT NOT NULL, note TEXT NOT NULL, created TEXT NOT NULL);
CREATE UNIQUE INDEX attempts ON nodes (run, parent, action, coalesce(code_hash, ''));
CREATE TABLE verdicts (
  id INTEGER PRIMARY KEY, task_hash TEXT NOT NULL, code_hash TEXT NOT NULL, tier TEXT NOT NULL, evaluator TEXT NOT NULL,
  hardware TEXT NOT NULL, reusable INTEGER NOT NULL, outcome TEXT NOT NULL, reason TEXT NOT NULL, time_ms REAL,
  verdict TEXT NOT NULL, created TEXT NOT NULL);
CREATE INDEX verdicts_by_key ON verdicts (code_hash, task_hash, tier, evaluator, hardware);
CREATE TABLE node_verdicts (
  node INTEGER NOT NULL REFERENCES nodes (id), tier TEXT NOT NULL, verdict INTEGER NOT NULL REFERENCES verdicts (id),
  PRIMARY KEY (node, tier)) WITHOUT ROWID;
CREATE TABLE cache (
  kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, created TEXT NOT NULL, PRIMARY KEY (kind, key))
  WITHOUT ROWID;
)sql";

// The other parent of what was crossed.
constexpr const char* kVersion2 = "ALTER TABLE nodes ADD COLUMN partner INTEGER NOT NULL DEFAULT 0;";

constexpr std::array<const char*, kSchemaVersion> kMigrations = {kVersion1, kVersion2};

// 0: a file without our tables.
Result<int64_t> version_of(Database& database) {
  MTMC_TRY(const auto tables, database.query("SELECT name FROM sqlite_master WHERE type = 'table'"));
  if (tables.empty()) return int64_t{0};
  bool ours = false;
  for (const Row& row : tables) ours = ours || text(row[0]) == "schema";
  if (!ours)
    return Error{"opening the store " + database.path().string(), "this database is not a store of mtmc",
                 "a table '" + text(tables[0][0]) + "'", "a store made by mtmc, or a path where none exists yet"};
  MTMC_TRY(const auto rows, database.query("SELECT version FROM schema"));
  return rows.empty() ? int64_t{0} : integer(rows[0][0]);
}

Status refuse_newer(const Database& database, int64_t version) {
  if (version <= kSchemaVersion) return ok_status();
  return Error{"opening the store " + database.path().string(), "a newer mtmc has written it",
               fmt::format("schema {}", version),
               fmt::format("schema {} or older: update mtmc, or another place with --store PATH", kSchemaVersion)};
}

}  // namespace

Status migrate(Database& database) {
  MTMC_TRY(const int64_t before, version_of(database));
  MTMC_RETURN_IF_ERROR(refuse_newer(database, before));
  if (before == kSchemaVersion) return ok_status();
  return database.transaction([&]() -> Status {
    MTMC_TRY(const int64_t version, version_of(database));  // another process may have been first
    MTMC_RETURN_IF_ERROR(refuse_newer(database, version));
    if (version == 0)
      MTMC_RETURN_IF_ERROR(database.script("CREATE TABLE IF NOT EXISTS schema (version INTEGER NOT NULL)"));
    for (int64_t next = version; next < kSchemaVersion; ++next)
      MTMC_RETURN_IF_ERROR(database.script(kMigrations[static_cast<size_t>(next)]));
    MTMC_RETURN_IF_ERROR(database.run("DELETE FROM schema"));
    return database.run("INSERT INTO schema VALUES (?)", {int64_t{kSchemaVersion}});
  });
}

Status check_schema(Database& database) {
  MTMC_TRY(const int64_t version, version_of(database));
  MTMC_RETURN_IF_ERROR(refuse_newer(database, version));
  if (version == kSchemaVersion) return ok_status();
  return Error{"opening the store " + database.path().string(), "an older mtmc has written it",
               fmt::format("schema {}", version), "one run of `mtmc optimize`, which brings it up to date"};
}

}  // namespace mtmc
