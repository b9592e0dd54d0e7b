#include "eval/one_in.h"

#include <gtest/gtest.h>

#include <set>

namespace mtmc {
namespace {

TEST(OneIn, IsExactlyOneOfEachSoManyAtPlacesOfItsOwn) {
  Rng rng(7);
  OneIn one(8);
  std::set<int> places;
  for (int block = 0; block < 100; ++block) {
    int found = 0;
    for (int i = 0; i < 8; ++i)
      if (one.next(rng)) ++found, places.insert(i);
    EXPECT_EQ(found, 1) << block;
  }
  EXPECT_EQ(places.size(), 8u);
}

}  // namespace
}  // namespace mtmc
