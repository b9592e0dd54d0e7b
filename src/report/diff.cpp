#include "report/diff.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace mtmc {
namespace {

constexpr int kMostEdits = 4000;  // beyond that the texts share nothing worth showing: all removed, all added

std::vector<std::string> lines_of(std::string_view text) {
  if (text.empty()) return {};
  if (text.back() == '\n') text.remove_suffix(1);
  return split(text, '\n');
}

// The furthest-reaching paths after d = 0, 1, ... edits; frontier[d][k + d] is x on diagonal k = x - y.
std::vector<std::vector<int>> frontiers(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const int n = static_cast<int>(a.size()), m = static_cast<int>(b.size());
  std::vector<std::vector<int>> all;
  for (int d = 0; d <= std::min(n + m, kMostEdits); ++d) {
    std::vector<int> reach(static_cast<size_t>(2 * d + 1), 0);
    for (int k = -d; k <= d; k += 2) {
      const auto before = [&](int diagonal) { return all.back()[static_cast<size_t>(diagonal + d - 1)]; };
      int x = 0;
      if (d > 0) x = k == -d || (k != d && before(k - 1) < before(k + 1)) ? before(k + 1) : before(k - 1) + 1;
      while (x < n && x - k < m && a[static_cast<size_t>(x)] == b[static_cast<size_t>(x - k)]) ++x;
      reach[static_cast<size_t>(k + d)] = x;
      if (x >= n && x - k >= m) {
        all.push_back(std::move(reach));
        return all;
      }
    }
    all.push_back(std::move(reach));
  }
  return {};
}

}  // namespace

std::vector<DiffLine> diff_lines(std::string_view before, std::string_view after) {
  const auto a = lines_of(before), b = lines_of(after);
  std::vector<DiffLine> lines;
  const auto add = [&](DiffLine::Kind kind, int x, int y) {
    const bool new_text = kind == DiffLine::Kind::added;
    lines.push_back({kind, new_text ? 0 : x + 1, kind == DiffLine::Kind::removed ? 0 : y + 1,
                     new_text ? b[static_cast<size_t>(y)] : a[static_cast<size_t>(x)]});
  };
  const auto all = frontiers(a, b);
  int x = static_cast<int>(a.size()), y = static_cast<int>(b.size());
  if (all.empty()) {
    for (int i = y - 1; i >= 0; --i) add(DiffLine::Kind::added, 0, i);
    for (int i = x - 1; i >= 0; --i) add(DiffLine::Kind::removed, i, 0);
  }
  // Back from the end, one edit a frontier.
  for (int d = static_cast<int>(all.size()) - 1; d >= 0; --d) {
    const int k = x - y;
    int from_x = 0, from_k = 0;
    if (d > 0) {
      const auto reach = [&](int diagonal) {
        return all[static_cast<size_t>(d - 1)][static_cast<size_t>(diagonal + d - 1)];
      };
      from_k = k == -d || (k != d && reach(k - 1) < reach(k + 1)) ? k + 1 : k - 1;
      from_x = reach(from_k);
    }
    const int from_y = from_x - from_k;
    while (x > from_x && y > from_y && a[static_cast<size_t>(x - 1)] == b[static_cast<size_t>(y - 1)]) {
      --x, --y;
      add(DiffLine::Kind::same, x, y);
    }
    if (d == 0) break;
    if (x > from_x) add(DiffLine::Kind::removed, --x, 0);
    if (y > from_y) add(DiffLine::Kind::added, 0, --y);
  }
  std::reverse(lines.begin(), lines.end());
  return lines;
}

std::vector<std::vector<DiffLine>> hunks(const std::vector<DiffLine>& lines, int context) {
  std::vector<std::vector<DiffLine>> all;
  int last = -1;  // the last line that is in a hunk
  for (int i = 0; i < static_cast<int>(lines.size()); ++i) {
    if (lines[static_cast<size_t>(i)].kind == DiffLine::Kind::same) continue;
    const int first = std::max({0, last + 1, i - context});
    if (all.empty() || first > last + 1) all.emplace_back();
    const int until = std::min(i + context, static_cast<int>(lines.size()) - 1);
    for (int j = std::max(first, last + 1); j <= until; ++j) all.back().push_back(lines[static_cast<size_t>(j)]);
    last = std::max(last, until);
  }
  return all;
}

std::string unified_diff(std::string_view before, std::string_view after, bool colour) {
  std::string text;
  for (const auto& hunk : hunks(diff_lines(before, after))) {
    int first_before = 0, first_after = 0, count_before = 0, count_after = 0;
    for (const DiffLine& line : hunk) {
      if (line.before && !first_before) first_before = line.before;
      if (line.after && !first_after) first_after = line.after;
      count_before += line.before != 0, count_after += line.after != 0;
    }
    const std::string head = fmt::format("@@ -{},{} +{},{} @@", first_before, count_before, first_after, count_after);
    text += colour ? "\x1b[36m" + head + "\x1b[0m\n" : head + "\n";
    for (const DiffLine& line : hunk) {
      const bool removed = line.kind == DiffLine::Kind::removed, added = line.kind == DiffLine::Kind::added;
      const std::string shown = (removed ? "-" : added ? "+" : " ") + line.text;
      text +=
          colour && (removed || added) ? fmt::format("\x1b[{}m{}\x1b[0m\n", removed ? 31 : 32, shown) : shown + "\n";
    }
  }
  return text;
}

}  // namespace mtmc
