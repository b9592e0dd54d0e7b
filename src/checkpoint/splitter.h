// Pre-tokenizers: how a text is cut into the words that byte-pair encoding works on. A pattern is a regular expression
// in the dialect of Hugging Face's tokenizers (Oniguruma), run by PCRE2: \s is Unicode's White_Space there, in PCRE2
// nearly so.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mtmc {

class CompiledPattern;

// One compiled pattern. Matches and what lies between them become words of their own (`isolated`), or one of both is
// dropped.
class Splitter {
 public:
  enum class Keep { both, gaps, matches };
  // An Error when PCRE2 does not know the pattern.
  static Result<Splitter> make(const std::string& pattern, Keep keep);
  // Cuts `text`, which is valid UTF-8, and appends its words to `words`.
  void split(std::string_view text, std::vector<std::string_view>& words) const;

 private:
  std::shared_ptr<const CompiledPattern> compiled_;
  Keep keep_ = Keep::both;
};

}  // namespace mtmc
