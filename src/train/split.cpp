#include "train/split.h"

#include "base/file.h"
#include "base/hash.h"
#include "learn/dataset.h"

namespace mtmc::train {

Result<Data> read_data(const std::vector<std::string>& files) {
  Data data;
  std::string digests;
  for (const std::string& file : files) {
    MTMC_TRY(std::vector<Tree> trees, read_trees(file));
    std::move(trees.begin(), trees.end(), std::back_inserter(data.trees));
    MTMC_TRY(const std::string text, read_file(file));
    digests += sha256(text) + "\n";
  }
  if (data.trees.empty())
    return Error{"reading the data", "there is no task", "", "--data with what `mtmc dataset export` writes"};
  data.view = data.trees[0].view;
  for (const Tree& tree : data.trees)
    if (tree.view != data.view)
      return Error{"reading the data", "some trees show code and others Programs", tree.name + ": " + tree.view,
                   data.view};
  data.digest = sha256(digests);
  return data;
}

bool is_held_out(const std::string& name, double share) {
  const auto drawn = static_cast<double>(std::stoul(short_hash(name, 8), nullptr, 16));
  return drawn / 4294967296.0 < share;
}

}  // namespace mtmc::train
