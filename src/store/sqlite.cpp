#include "store/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <chrono>
#include <memory>
#include <thread>

#include "base/text.h"

namespace mtmc {
namespace {

constexpr int kBusyMilliseconds = 60'000;

using Statement = std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)>;

int bind(sqlite3_stmt* statement, int index, const Cell& cell) {
  if (const auto* number = std::get_if<int64_t>(&cell)) return sqlite3_bind_int64(statement, index, *number);
  if (const auto* real = std::get_if<double>(&cell)) return sqlite3_bind_double(statement, index, *real);
  if (const auto* string = std::get_if<std::string>(&cell))
    return sqlite3_bind_text64(statement, index, string->data(), string->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return sqlite3_bind_null(statement, index);
}

Cell column(sqlite3_stmt* statement, int index) {
  switch (sqlite3_column_type(statement, index)) {
    case SQLITE_NULL: return {};
    case SQLITE_INTEGER: return int64_t{sqlite3_column_int64(statement, index)};
    case SQLITE_FLOAT: return sqlite3_column_double(statement, index);
    default: {
      const void* data = sqlite3_column_blob(statement, index);
      return std::string(static_cast<const char*>(data), static_cast<size_t>(sqlite3_column_bytes(statement, index)));
    }
  }
}

// What to do about it, in the user's terms.
std::string advice(int code) {
  switch (code & 0xff) {
    case SQLITE_FULL: return "free space on that disk, or another place with --store PATH or MTMC_STORE";
    case SQLITE_IOERR:
      return "a disk that takes writes (is it full, or the file size limited?), or another --store PATH";
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM: return "a file and folder that you may write, or another place with --store PATH or MTMC_STORE";
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return "the other process that holds it to finish";
    case SQLITE_NOTADB: return "a store made by mtmc, or a path where none exists yet";
    case SQLITE_CORRUPT: return "a whole store: move the file away and start afresh";
    default: return "";
  }
}

std::string uri_escape(const std::string& path) {
  return replace_all(replace_all(replace_all(path, "%", "%25"), "?", "%3f"), "#", "%23");
}

}  // namespace

int64_t integer(const Cell& cell) {
  if (std::holds_alternative<std::monostate>(cell)) return 0;
  MTMC_CHECK(std::holds_alternative<int64_t>(cell), "the store's column is not an integer");
  return std::get<int64_t>(cell);
}

const std::string& text(const Cell& cell) {
  static const std::string empty;
  if (std::holds_alternative<std::monostate>(cell)) return empty;
  MTMC_CHECK(std::holds_alternative<std::string>(cell), "the store's column is not text");
  return std::get<std::string>(cell);
}

Error Database::failure(std::string_view doing, int code) const {
  MTMC_CHECK((code & 0xff) != SQLITE_ERROR && (code & 0xff) != SQLITE_MISUSE && (code & 0xff) != SQLITE_CONSTRAINT,
             fmt::format("{} {}: {}", doing, path_.string(), handle_ ? sqlite3_errmsg(handle_) : "no connection"));
  return Error{fmt::format("{} {}", doing, path_.string()), handle_ ? sqlite3_errmsg(handle_) : sqlite3_errstr(code),
               "", advice(code)};
}

Result<Database> Database::open(const std::filesystem::path& path, Access access) {
  Database database;
  database.path_ = path;
  const bool in_memory = path == ":memory:";
  std::error_code error;
  if (!in_memory && access == Access::write && path.has_parent_path()) {
    std::filesystem::create_directories(path.parent_path(), error);
    if (error)
      return Error{"opening the store " + path.string(), "its folder cannot be made", error.message(),
                   "a folder that you may write, or another place with --store PATH or MTMC_STORE"};
  }
  if (!in_memory && access == Access::read && !std::filesystem::exists(path, error))
    return Error{"opening the store " + path.string(), "there is none", "no such file",
                 "a store that `mtmc optimize` has written (--store PATH or MTMC_STORE)"};
  const int flags = access == Access::write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READWRITE;
  MTMC_RETURN_IF_ERROR(database.connect(path.string(), flags));
  if (access == Access::read && !in_memory && !database.readable()) {
    // A folder that we may not write, so no lock files: read the file as one that nobody changes.
    sqlite3_close(std::exchange(database.handle_, nullptr));
    MTMC_RETURN_IF_ERROR(
        database.connect("file:" + uri_escape(path.string()) + "?immutable=1", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI));
  }
  MTMC_RETURN_IF_ERROR(database.prepare_connection(access));
  return database;
}

Status Database::connect(const std::string& name, int flags) {
  const int code = sqlite3_open_v2(name.c_str(), &handle_, flags, nullptr);
  if (code != SQLITE_OK) return failure("opening the store", code);
  sqlite3_extended_result_codes(handle_, 1);
  sqlite3_busy_timeout(handle_, kBusyMilliseconds);
  return ok_status();
}

bool Database::readable() const {
  const int code = sqlite3_exec(handle_, "SELECT 1 FROM sqlite_master", nullptr, nullptr, nullptr) & 0xff;
  return code != SQLITE_CANTOPEN && code != SQLITE_READONLY;
}

// Write-ahead log: readers never wait, a killed writer leaves nothing half done, and one commit is one append.
Status Database::prepare_connection(Access access) {
  MTMC_RETURN_IF_ERROR(script("PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL;"));
  if (access == Access::read) return script("PRAGMA query_only = ON;");
  // Two processes that open a new store at once: the busy timeout does not cover the change of journal mode.
  for (int attempt = 0;; ++attempt) {
    const int code = sqlite3_exec(handle_, "PRAGMA journal_mode = WAL;", nullptr, nullptr, nullptr);
    if (code == SQLITE_OK) return ok_status();
    if ((code & 0xff) != SQLITE_BUSY || attempt > 200) return failure("opening the store", code);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

Database::Database(Database&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), path_(std::move(other.path_)) {}

Database& Database::operator=(Database&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(path_, other.path_);
  return *this;
}

Database::~Database() { sqlite3_close(handle_); }

Result<std::vector<Row>> Database::query(std::string_view sql, const std::vector<Cell>& values) {
  sqlite3_stmt* prepared = nullptr;
  int code = sqlite3_prepare_v2(handle_, sql.data(), static_cast<int>(sql.size()), &prepared, nullptr);
  if (code != SQLITE_OK) return failure("reading the store", code);
  const Statement statement(prepared, &sqlite3_finalize);
  MTMC_CHECK(sqlite3_bind_parameter_count(prepared) == static_cast<int>(values.size()),
             "wrong number of values for: " + std::string(sql));
  for (size_t i = 0; i < values.size(); ++i) {
    code = bind(prepared, static_cast<int>(i) + 1, values[i]);
    if (code != SQLITE_OK) return failure("using the store", code);
  }
  std::vector<Row> rows;
  while ((code = sqlite3_step(prepared)) == SQLITE_ROW) {
    Row row;
    for (int i = 0; i < sqlite3_column_count(prepared); ++i) row.push_back(column(prepared, i));
    rows.push_back(std::move(row));
  }
  // COMMIT counts as read-only in SQLite's eyes; only what returns columns reads in ours.
  const bool reads = sqlite3_stmt_readonly(prepared) && sqlite3_column_count(prepared) > 0;
  if (code != SQLITE_DONE) return failure(reads ? "reading the store" : "writing to the store", code);
  return rows;
}

Status Database::run(std::string_view sql, const std::vector<Cell>& values) {
  MTMC_TRY(const auto rows, query(sql, values));
  MTMC_CHECK(rows.empty(), "rows nobody reads: " + std::string(sql));
  return ok_status();
}

Status Database::script(const std::string& sql) {
  const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return failure("opening the store", code);
  return ok_status();
}

int64_t Database::last_insert_id() const { return sqlite3_last_insert_rowid(handle_); }

Status Database::transaction(const std::function<Status()>& body) {
  MTMC_RETURN_IF_ERROR(run("BEGIN IMMEDIATE"));
  Status status = body();
  if (status.ok()) status = run("COMMIT");
  // Some failures (disk full) have rolled back by themselves.
  if (!status.ok() && !sqlite3_get_autocommit(handle_)) sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
  return status;
}

}  // namespace mtmc
