#include "search/weights.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/tempdir.h"
#include "search/world.h"

namespace mtmc {
namespace {

using ::testing::HasSubstr;
using testing::World;

TEST(Weights, AreNamedByWhatTheirFilesHold) {
  TempDir dir;
  const auto folder = dir.path() / "policy";
  std::filesystem::create_directories(folder / "adapter");
  ASSERT_TRUE(write_file(folder / "a.json", "1").ok());
  ASSERT_TRUE(write_file(folder / "adapter" / "b.json", "2").ok());
  const Weights first = find_weights(folder).value();
  EXPECT_TRUE(first.path.is_absolute());
  EXPECT_EQ(find_weights(folder).value(), first);
  ASSERT_TRUE(write_file(folder / "adapter" / "b.json", "3").ok());
  EXPECT_NE(find_weights(folder).value().digest, first.digest) << "a content";
  ASSERT_TRUE(write_file(folder / "adapter" / "b.json", "2").ok());
  std::filesystem::rename(folder / "a.json", folder / "c.json");
  EXPECT_NE(find_weights(folder).value().digest, first.digest) << "a name";
  EXPECT_TRUE(find_weights(folder / "c.json").ok());
}

TEST(Weights, ThatAreMissingAreToldSo) {
  TempDir dir;
  EXPECT_THAT(find_weights(dir.path() / "nothing").error().message(), HasSubstr("no such file or folder"));
  EXPECT_THAT(find_weights(dir.path()).error().message(), HasSubstr("holds no file"));
}

// Keeps the order of the proposals, and says what it was trained to.
class TrainedPolicy final : public Policy {
 public:
  explicit TrainedPolicy(std::string digest) : digest_(std::move(digest)) {}
  std::string name() const override { return "trained"; }
  std::optional<Weights> weights() const override { return Weights{"/weights", digest_}; }
  Result<Ranking> rank(const Observation&, const std::vector<Proposal>& proposals) override {
    std::vector<size_t> order(proposals.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    return order;
  }

 private:
  std::string digest_;
};

TEST(Weights, OfThePolicyArePartOfARunsIdentity) {
  World world;
  const auto run_with = [&](const char* digest) {
    TrainedPolicy policy(digest);
    const auto done = optimize(world.request, world.judge, *world.store, world.coder, policy, *find_strategy("rollout"),
                               world.recorder);
    return world.store->run(done.value().run).value();
  };
  const RunRecord one = run_with("aa"), other = run_with("bb"), again = run_with("aa");
  EXPECT_NE(one.options_hash, other.options_hash);
  EXPECT_EQ(one.options_hash, again.options_hash);
  const Json options = Json::parse(one.options);
  EXPECT_EQ(options["policy"], "trained");
  EXPECT_EQ(options["weights"], (Json{{"path", "/weights"}, {"digest", "aa"}}));
}

}  // namespace
}  // namespace mtmc
