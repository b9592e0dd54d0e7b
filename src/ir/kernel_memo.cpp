#include "ir/kernel_memo.h"

#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/text.h"
#include "ir/kernel_program.h"

namespace mtmc {

std::string kernel_key(const Program& program, const Kernel& kernel, const Hardware& hardware) {
  return sha256(to_json(hardware).dump() + "\n" + print(kernel_program(program, kernel)));
}

Error as_of(Error error, const std::string& before, const std::string& name) {
  error.doing = replace_all(std::move(error.doing), before, name);
  return error;
}

}  // namespace mtmc
