// SQLite through its C API, in the house's words: a connection, rows of cells, transactions, failures as Errors.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

struct sqlite3;

namespace mtmc {

// One column of one row: NULL, an integer, a real or text (blobs are read as text).
using Cell = std::variant<std::monostate, int64_t, double, std::string>;
using Row = std::vector<Cell>;

int64_t integer(const Cell& cell);          // 0 for NULL
const std::string& text(const Cell& cell);  // empty for NULL

enum class Access { read, write };

// A connection; not for two threads at once, and never carried across a fork.
class Database {
 public:
  // Makes the file and its folders when writing. ":memory:" keeps everything in memory.
  static Result<Database> open(const std::filesystem::path& path, Access access);
  Database(Database&& other) noexcept;
  Database& operator=(Database&& other) noexcept;
  Database(const Database&) = delete;
  ~Database();

  // Runs one statement with its `?` filled in order and returns all of its rows.
  Result<std::vector<Row>> query(std::string_view sql, const std::vector<Cell>& values = {});
  // The same for statements without rows; `script` takes several and no values.
  Status run(std::string_view sql, const std::vector<Cell>& values = {});
  Status script(const std::string& sql);
  int64_t last_insert_id() const;

  // All of `body` or nothing of it: holds the write lock from the start, rolls back when `body` fails.
  Status transaction(const std::function<Status()>& body);

  const std::filesystem::path& path() const { return path_; }

 private:
  Database() = default;
  Error failure(std::string_view doing, int code) const;
  Status connect(const std::string& name, int flags);
  bool readable() const;
  Status prepare_connection(Access access);
  sqlite3* handle_ = nullptr;
  std::filesystem::path path_;
};

}  // namespace mtmc
