#include "actions/programs.h"

#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "ops/op.h"
#include "support/source_dir.h"

namespace mtmc {

Program read_start(std::string source) {
  if (source.find("\nkernel ") == std::string::npos) {
    int kernels = 0;
    for (const std::string& line : split(std::string(source), '\n')) {
      const size_t equals = line.find(" = "), call = line.find('(');
      if (equals == std::string::npos || call == std::string::npos || trim(line)[0] != '%') continue;
      source += "kernel k" + std::to_string(kernels++) + " = { " +
                replace_all(std::string(trim(line.substr(0, equals))), ",", "") + " } library\n";
    }
  }
  const auto parsed = parse_program(source);
  MTMC_CHECK(parsed.ok(), parsed.error().message() + "\n" + source);
  const Status typed = verify_types(*parsed);
  MTMC_CHECK(typed.ok(), typed.error().message() + "\n" + source);
  return *parsed;
}

std::vector<Program> programs_in(const std::string& file) {
  const auto text = read_file(std::filesystem::path(source_dir()) / "tests" / file);
  MTMC_CHECK(text.ok(), text.error().message());
  std::vector<Program> found;
  std::string source;
  bool in_answer = false;
  const auto flush = [&] {
    if (!source.empty()) found.push_back(read_start(source));
    source.clear();
  };
  for (const std::string& line : split(*text, '\n')) {
    if (line.rfind("program ", 0) == 0 && !in_answer) flush();
    if (line.rfind(">>> ", 0) == 0) {
      flush();
      in_answer = true;
    }
    if (line == "====") in_answer = false;
    if (!in_answer && line != "====" && !line.empty() && line[0] != '#') source += line + "\n";
  }
  flush();
  return found;
}

}  // namespace mtmc
