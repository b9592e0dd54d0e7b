#include "generate/write.h"

#include <set>

#include "base/file.h"

namespace mtmc {

namespace fs = std::filesystem;

Result<WrittenTasks> write_tasks(const TaskRequest& request) {
  std::error_code code;
  fs::create_directories(request.out, code);
  if (code) return Error{"writing tasks", code.message(), "'" + request.out.string() + "'", "a folder to write to"};
  Fingerprints others;
  if (!request.against.empty()) {
    MTMC_TRY(others, fingerprints(request.against));
  }
  TaskSource source(request.kind, request.size, request.seed);
  WrittenTasks written;
  while (static_cast<int>(written.tasks.size()) < request.count) {
    std::vector<GeneratedTask> drawn;
    std::vector<fs::path> files;
    while (static_cast<int>(written.tasks.size() + drawn.size()) < request.count) {
      drawn.push_back(source.next());
      files.push_back(request.out / (drawn.back().name + ".py"));
      MTMC_RETURN_IF_ERROR(write_file(files.back(), drawn.back().text));
    }
    std::set<std::string> among;
    if (!request.against.empty()) {
      MTMC_TRY(const Fingerprints own, fingerprints(files));
      for (Match& match : matches(own, others)) {
        among.insert(match.file);
        fs::remove(match.file, code);
        if (code)
          return Error{"leaving out a task that a benchmark has", code.message(), match.file, "a file to remove"};
        written.left_out.push_back(std::move(match));
      }
    }
    for (size_t i = 0; i < drawn.size(); ++i)
      if (!among.contains(files[i].string())) written.tasks.push_back(std::move(drawn[i]));
  }
  return written;
}

}  // namespace mtmc
