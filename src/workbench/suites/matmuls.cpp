// The seven matrix products of Table 5 of the paper that this house follows (arXiv 2511.20100): those of KernelBench's
// level 1 with its numbers, in the sizes of its first version. The text of the modules is ours.
#include <fmt/core.h>

#include <set>

#include "base/file.h"
#include "workbench/suite.h"

namespace mtmc {
namespace {

struct Product {
  int number;
  const char* name;
  int64_t rows, inner, columns;
  bool symmetric = false;
};

constexpr Product kProducts[] = {
    {1, "square", 2048, 2048, 2048},           {2, "oblong", 1024, 4096, 2048},    {6, "long_sums", 256, 131072, 256},
    {7, "short_sums", 16384, 32, 16384},       {8, "odd_sizes", 8205, 2949, 5921}, {9, "outer", 16384, 16, 16384},
    {13, "symmetric", 4096, 4096, 4096, true},
};

std::string module_of(const Product& p) {
  const std::string arguments =
      p.symmetric ? fmt::format("[symmetric({0}), symmetric({0})]", p.rows)
                  : fmt::format("[torch.randn({}, {}), torch.randn({}, {})]", p.rows, p.inner, p.inner, p.columns);
  return fmt::format(
      "\"\"\"A product of {} x {} and {} x {}{}.\"\"\"\n\nimport torch\n\n\n"
      "class Model(torch.nn.Module):\n    def forward(self, a, b):\n        return a @ b\n\n\n{}"
      "def get_inputs():\n    return {}\n",
      p.rows, p.inner, p.inner, p.columns, p.symmetric ? ", both symmetric" : "",
      p.symmetric ? "def symmetric(size):\n    a = torch.randn(size, size)\n    return (a + a.T) / 2\n\n\n" : "",
      arguments);
}

Result<std::vector<SuiteTask>> tasks(const std::filesystem::path& root) {
  std::error_code code;
  std::filesystem::create_directories(root, code);
  std::set<std::string> names;
  for (const Product& product : kProducts) {
    const std::string name = fmt::format("{}_{}", product.number, product.name);
    MTMC_RETURN_IF_ERROR(write_file(root / (name + ".py"), module_of(product)));
    names.insert(name);
  }
  MTMC_TRY(std::vector<SuiteTask> tasks, tasks_of_folder(root, ""));
  std::erase_if(tasks, [&](const SuiteTask& task) { return !names.contains(task.name); });
  return tasks;
}

constexpr const char* kPublished =
    "Published for the paper's own system (QiMeng-Kernel, arXiv 2511.20100, Table 5), in ms on a GPU that it does not "
    "name:\n\n"
    "| | 1 | 2 | 6 | 7 | 8 | 9 | 13 |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
    "| Triton | 1.38 | 1.36 | 4.43 | 1.45 | 37.88 | 0.92 | 10.56 |\n"
    "| CUDA | 1.38 | 1.66 | 1.34 | 1.66 | 26.52 | 0.91 | 10.17 |\n";

}  // namespace

extern const SuiteDef matmuls_def;
const SuiteDef matmuls_def{.name = "matmuls",
                           .doc = "the seven matrix products of the paper's Table 5",
                           .tasks = tasks,
                           .published = kPublished,
                           .writes = true};

}  // namespace mtmc
