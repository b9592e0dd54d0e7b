#include "checkpoint/splitter.h"

#include <fmt/format.h>

#include "base/text.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace mtmc {
namespace {

// Unicode's White_Space. PCRE2's \s has U+180E, too.
constexpr const char* kSpace =
    R"(\x{09}-\x{0D}\x{20}\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000})";

// \s and \S spelled out, inside and outside of a class. (\S inside of a class stays PCRE2's own.)
std::string spell_spaces(const std::string& pattern) {
  std::string spelled;
  bool in_class = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      const char next = pattern[++i];
      if (next == 's')
        spelled += in_class ? std::string(kSpace) : fmt::format("[{}]", kSpace);
      else if (next == 'S' && !in_class)
        spelled += fmt::format("[^{}]", kSpace);
      else
        spelled += {c, next};
      continue;
    }
    if (c == '[') in_class = true;
    if (c == ']') in_class = false;
    spelled += c;
  }
  return spelled;
}

}  // namespace

class CompiledPattern {
 public:
  pcre2_code* code = nullptr;
  ~CompiledPattern() { pcre2_code_free(code); }
};

Result<Splitter> Splitter::make(const std::string& pattern, Keep keep) {
  const std::string spelled = spell_spaces(pattern);
  int code = 0;
  size_t where = 0;
  auto compiled = std::make_shared<CompiledPattern>();
  compiled->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(spelled.data()), spelled.size(), PCRE2_UTF | PCRE2_UCP,
                                 &code, &where, nullptr);
  if (compiled->code == nullptr) {
    char text[120];
    pcre2_get_error_message(code, reinterpret_cast<PCRE2_UCHAR*>(text), sizeof text);
    return Error{"reading a pre-tokenizer", text, pattern, "a regular expression"};
  }
  pcre2_jit_compile(compiled->code, PCRE2_JIT_COMPLETE);  // where there is no JIT the interpreter does
  Splitter splitter;
  splitter.compiled_ = std::move(compiled);
  splitter.keep_ = keep;
  return splitter;
}

void Splitter::split(std::string_view text, std::vector<std::string_view>& words) const {
  const auto add = [&](size_t from, size_t to, bool kept) {
    if (to > from && kept) words.push_back(text.substr(from, to - from));
  };
  const std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> match(
      pcre2_match_data_create_from_pattern(compiled_->code, nullptr), pcre2_match_data_free);
  size_t done = 0, from = 0;
  while (from <= text.size()) {
    const int found = pcre2_match(compiled_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                                  PCRE2_NO_UTF_CHECK, match.get(), nullptr);
    if (found == PCRE2_ERROR_NOMATCH) break;
    MTMC_CHECK(found > 0, fmt::format("PCRE2's error {}", found));
    const size_t* ends = pcre2_get_ovector_pointer(match.get());
    if (ends[0] == ends[1]) {  // an empty match cuts nothing; on to the next character
      for (from = ends[1] + 1; from < text.size() && (text[from] & 0xC0) == 0x80;) ++from;
      continue;
    }
    add(done, ends[0], keep_ != Keep::matches);
    add(ends[0], ends[1], keep_ != Keep::gaps);
    done = from = ends[1];
  }
  add(done, text.size(), keep_ != Keep::matches);
}

}  // namespace mtmc
