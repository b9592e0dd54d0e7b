// Measured hardware facts, kept for the next start in the user's cache folder.
#pragma once
#include <optional>
#include <string>

#include "ir/hardware.h"

namespace mtmc {

// What was kept of a kind ("cpu", "gpu") under this key; nothing where it cannot be read.
std::optional<Hardware> kept_hardware(const std::string& kind, const std::string& key);
// How long ago that was, in hours; 0 where nothing is kept.
double hours_kept(const std::string& kind, const std::string& key);
// A folder that cannot be written to is no fault: it is measured again next time.
void keep_hardware(const std::string& kind, const std::string& key, const Hardware& hardware);

}  // namespace mtmc
