#include "support/source_dir.h"

namespace mtmc {

std::string source_dir() { return MTMC_SOURCE_DIR; }

}  // namespace mtmc
