// Results that whoever calls still holds: which, and whether they stay what they were.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "eval/examination.h"

namespace mtmc {

namespace {

constexpr size_t kLast = 3;  // that stay, of many

}  // namespace

void Examination::hold(Held result) {
  held_.push_back(std::move(result));
  while (static_cast<int>(held_.size()) > held()) drop(0);
}

void Examination::drop(size_t index) {
  std::error_code ignored;  // then it is only space in memory until the end
  const std::filesystem::path& file = held_[index].file;
  if (!file.empty())
    std::filesystem::remove(file, ignored), std::filesystem::remove(file.string() + kArguments, ignored);
  held_.erase(held_.begin() + static_cast<long>(index));
}

// Of many any may go but the last ones: so some stay for a hundred calls, and nobody knows which.
int Examination::make_room() {
  while (static_cast<int>(held_.size()) > held()) drop(0);
  if (static_cast<int>(held_.size()) < kManyResults) return 0;
  const size_t index = rng_.below(held_.size() - kLast);
  const int behind = static_cast<int>(held_.size() - index);
  drop(index);
  return behind;
}

// Whoever keeps a result finds it unchanged later. Two are looked at: the oldest, and the oldest since the state was
// set, which may have been written into results that are a part of it.
Result<bool> Examination::first_results_stay(Guest& guest, const DrawFacts& facts) {
  const Held* last = nullptr;
  for (const bool since : {false, true}) {
    const auto first = std::find_if(held_.begin(), held_.end(), [&](const Held& one) {
      return !one.hash.empty() && (!since || one.loose != one.aliases);
    });
    if (first == held_.end() || &*first == last) continue;
    last = &*first;
    MTMC_TRY(const bool same, stays(guest, *first));
    if (!same) return refuse("background-work", "an output changed after the call had returned, on draw " + facts.name);
  }
  return true;
}

Result<bool> Examination::stays(Guest& guest, const Held& held) {
  const Json& form = held.reply->at("results").at("list").at(0);
  if (facts_.by_file()) {
    MTMC_TRY(const Json told, guest.conductor().compute({{"op", "reread"},
                                                         {"form", form},
                                                         {"without", held.loose},
                                                         {"out", held.file.string()},
                                                         {"stay", facts_.has_weights()},  // the state is read next
                                                         {"most_bytes", facts_.most_bytes()}},
                                                        limits_.load_seconds));
    return told.at("same").get<bool>();
  }
  MTMC_TRY(
      const Json told,
      facts_.ask({{"op", "digest"}, {"form", form}, {"guest", guest.name()}, {"most_bytes", facts_.most_bytes()}}));
  const bool shared = std::find(held.loose.begin(), held.loose.end(), true) != held.loose.end();
  return shared || told.at("hash") == held.hash;
}

}  // namespace mtmc
