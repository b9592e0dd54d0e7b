// Golden files: what a test expects, as a file that people read. Any test program started with --update-golden rewrites
// them instead of comparing.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "base/file.h"
#include "support/source_dir.h"

namespace mtmc {

inline bool updating_golden() {
  const auto arguments = ::testing::internal::GetArgvs();
  return std::find(arguments.begin(), arguments.end(), "--update-golden") != arguments.end();
}

// `file` is relative to tests/.
inline void expect_golden(const std::string& file, const std::string& text) {
  const auto path = std::filesystem::path(source_dir()) / "tests" / file;
  if (updating_golden()) {
    const auto written = write_file(path, text);
    ASSERT_TRUE(written.ok()) << written.error().message();
    return;
  }
  const auto wanted = read_file(path);
  ASSERT_TRUE(wanted.ok()) << wanted.error().message();
  EXPECT_EQ(text, *wanted) << "of " << file << " (to accept: the same test program with --update-golden)";
}

}  // namespace mtmc
