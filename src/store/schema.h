// The store's tables, as a list of migrations: opening brings an older file up to date and refuses a newer one.
#pragma once
#include "store/sqlite.h"

namespace mtmc {

constexpr int kSchemaVersion = 2;

Status migrate(Database& database);
// For readers, who may not change the file: ok when it has our version.
Status check_schema(Database& database);

}  // namespace mtmc
