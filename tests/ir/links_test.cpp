#include "ir/links.h"

#include <gtest/gtest.h>

namespace mtmc {
namespace {

// The view %2 is computed twice, for everybody by k0; %4 goes to a state.
constexpr const char* kTwice = R"(program p {
  %0 = input "x" : f32[4,8]
  %1 = buffer "b" : f32[8,4]
  %2 = transpose(%0, dim0=0, dim1=1) : f32[8,4]
  %3 = add(%2, %1) : f32[8,4]
  %4 = mul(%3, %2) : f32[8,4]
  %5, %6 = max_dim(%3, dim=1, keepdim=false) : f32[8], i64[8]
  state "b" = %4
  return %5
}
kernel k0 = { %2 } library
kernel k1 = { %2 %3 } pointwise
kernel k2 = { %4 } library
kernel k3 = { %5 %6 } library
)";

class LinksTest : public testing::Test {
 protected:
  Program program_ = parse_program(kTwice).value();
  Links links_{program_};
};

TEST_F(LinksTest, FindWhatTheProgramFinds) {
  for (const Value& value : program_.values) {
    EXPECT_EQ(links_.producer(value.id), program_.producer(value.id));
    std::vector<const Node*> users;
    for (int place : links_.users(value.id)) users.push_back(&program_.nodes[static_cast<size_t>(place)]);
    EXPECT_EQ(users, program_.users(value.id));
    std::vector<const Kernel*> makers;
    for (int place : links_.makers(value.id)) makers.push_back(&program_.kernels[static_cast<size_t>(place)]);
    EXPECT_EQ(makers, program_.kernels_of(value.id));
  }
  for (const Kernel& kernel : program_.kernels) {
    EXPECT_EQ(links_.reads(kernel), program_.reads(kernel)) << kernel.name;
    EXPECT_EQ(links_.writes(kernel), program_.writes(kernel)) << kernel.name;
  }
}

TEST_F(LinksTest, NobodyMakesOrNeedsAnAbsentOperand) {
  EXPECT_EQ(links_.producer(kNoValue), nullptr);
  EXPECT_TRUE(links_.users(kNoValue).empty());
  EXPECT_TRUE(links_.makers(kNoValue).empty());
}

TEST_F(LinksTest, KnowWhatIsReturned) {
  EXPECT_TRUE(links_.is_returned(5));
  EXPECT_TRUE(links_.is_returned(4)) << "by a state";
  EXPECT_FALSE(links_.is_returned(3));
}

TEST_F(LinksTest, NodesStandInTheirOrder) {
  const auto nodes = links_.nodes({6, 2, 5, 0});
  ASSERT_EQ(nodes.size(), 2u) << "one node makes %5 and %6, none makes an input";
  EXPECT_EQ(nodes[0]->op, "transpose");
  EXPECT_EQ(nodes[1]->op, "max_dim");
}

}  // namespace
}  // namespace mtmc
