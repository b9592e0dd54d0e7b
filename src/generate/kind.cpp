#include "generate/kind.h"

#include <fmt/format.h>

#include <iterator>

#include "base/check.h"
#include "base/hash.h"

#include "generate_kinds.h"

namespace mtmc {

const KindDef* find_kind(std::string_view name) {
  for (const KindDef* kind : kKinds)
    if (kind->name == name) return kind;
  return nullptr;
}

std::vector<const KindDef*> all_kinds() { return {std::begin(kKinds), std::end(kKinds)}; }

GeneratedTask TaskSource::next() {
  constexpr int kMostDraws = 100000;
  for (int i = 0; i < kMostDraws; ++i) {
    const std::string moment = fmt::format("{}/{}/{}", kind_.name, seed_, drawn_++);
    Rng rng(std::stoull(short_hash(moment, 15), nullptr, 16));
    ModuleText text(rng, size_);
    if (!kind_.write(text)) continue;
    const bool fits = text.seconds() >= kind_.least && text.seconds() <= kind_.most;
    if (size_ == TaskSize::large && !fits) continue;
    if (!keys_.insert(sha256(text.key())).second) continue;
    GeneratedTask task;
    task.name = fmt::format("{}_{:04}", kind_.name, made_++);
    task.text = text.render(fmt::format("Generated {} {} of seed {}", kind_.name, made_ - 1, seed_));
    task.seconds = text.seconds();
    return task;
  }
  MTMC_CHECK(false, "the grammar has no more tasks of the kind " + std::string(kind_.name));
}

}  // namespace mtmc
