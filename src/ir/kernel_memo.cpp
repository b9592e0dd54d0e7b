#include "ir/kernel_memo.h"

#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "ir/kernel_program.h"

namespace mtmc {

std::string kernel_key(const Program& program, const Kernel& kernel, const Hardware& hardware) {
  return sha256(to_json(hardware).dump() + "\n" + print(kernel_program(program, kernel)));
}

}  // namespace mtmc
