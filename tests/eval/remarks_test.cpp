// What verdicts remark of outputs beside their errors.
#include <gtest/gtest.h>

#include "eval/rules.h"

namespace mtmc {
namespace {

TEST(Remarks, of_many_entries_of_the_state_the_worst_is_named) {
  std::vector<OutputError> errors(4);
  const char* outputs[] = {"0", "state:a.running_mean", "state:b.running_mean", "state:c.running_mean"};
  for (size_t i = 0; i < errors.size(); ++i)
    errors[i].output = outputs[i], errors[i].counts = false, errors[i].budget = i == 2 ? 3e9 : 1;
  const std::vector<std::string> notes = unproven(errors);
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(notes[0], "held-to-absolute-errors: 0 (eager's relative error is 1)");
  EXPECT_EQ(
      notes[1],
      "held-to-absolute-errors: state:b.running_mean (eager's relative error is 3e+09); and 2 more entries of the "
      "state");
  errors.resize(2);
  EXPECT_EQ(unproven(errors)[1], "held-to-absolute-errors: state:a.running_mean (eager's relative error is 1)");
}

}  // namespace
}  // namespace mtmc
