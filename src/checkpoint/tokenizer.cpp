#include "checkpoint/tokenizer.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <queue>
#include <tuple>

#include "checkpoint/tokenizer_parts.h"

namespace mtmc {
namespace {

// The length of the UTF-8 sequence at `at`, or 0 where there is none that is valid.
size_t sequence_at(std::string_view text, size_t at) {
  utf8proc_int32_t code = 0;
  const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                                       static_cast<utf8proc_ssize_t>(text.size() - at), &code);
  return length < 0 ? 0 : static_cast<size_t>(length);
}

utf8proc_int32_t code_at(std::string_view text, size_t at) {
  utf8proc_int32_t code = -1;
  utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                   static_cast<utf8proc_ssize_t>(text.size() - at), &code);
  return code;
}

size_t before(std::string_view text, size_t at) {
  do --at;
  while (at > 0 && (text[at] & 0xC0) == 0x80);
  return at;
}

bool is_space(utf8proc_int32_t code) {
  if ((code >= 9 && code <= 13) || code == 0x85) return true;
  const auto category = utf8proc_category(code);
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}

// \w of Rust's regex: letters, marks, decimal digits, letter numbers, connectors, joiners.
bool is_word(utf8proc_int32_t code) {
  switch (utf8proc_category(code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC: return true;
    default: return code == 0x200C || code == 0x200D;
  }
}

// Replaces what is no UTF-8 as Rust's from_utf8_lossy does: one U+FFFD for each longest beginning of a sequence.
std::string lossy(const std::string& bytes) {
  std::string text;
  for (size_t at = 0; at < bytes.size();) {
    if (const size_t length = sequence_at(bytes, at)) {
      text.append(bytes, at, length);
      at += length;
      continue;
    }
    text += "\xEF\xBF\xBD";
    const auto byte = [&](size_t i) { return i < bytes.size() ? static_cast<uint8_t>(bytes[i]) : 0; };
    const uint8_t first = byte(at), second = byte(at + 1);
    const auto continues = [](uint8_t b) { return (b & 0xC0) == 0x80; };
    size_t taken = 1;
    const bool three = first >= 0xE0 && first <= 0xEF && continues(second) && (first != 0xE0 || second >= 0xA0) &&
                       (first != 0xED || second < 0xA0);
    const bool four = first >= 0xF0 && first <= 0xF4 && continues(second) && (first != 0xF0 || second >= 0x90) &&
                      (first != 0xF4 || second < 0x90);
    if (three || four) taken = 2;
    if (four && continues(byte(at + 2))) taken = 3;
    at += taken;
  }
  return text;
}

}  // namespace

const std::array<std::string, 256>& byte_alphabet() {
  static const std::array<std::string, 256> alphabet = [] {
    std::array<std::string, 256> made;
    int next = 256;
    for (int byte = 0; byte < 256; ++byte) {
      const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
      utf8proc_uint8_t text[4];
      const auto length = utf8proc_encode_char(printable ? byte : next++, text);
      made[static_cast<size_t>(byte)].assign(reinterpret_cast<const char*>(text), static_cast<size_t>(length));
    }
    return made;
  }();
  return alphabet;
}

void AddedTokens::add(AddedToken token) {
  if (token.text.empty()) return;
  auto& list = by_byte_[static_cast<uint8_t>(token.text[0])];
  const auto at =
      std::find_if(list.begin(), list.end(), [&](const auto& t) { return t.text.size() < token.text.size(); });
  list.insert(at, std::move(token));
}

const AddedToken* AddedTokens::longest_at(std::string_view text, size_t at) const {
  for (const AddedToken& token : by_byte_[static_cast<uint8_t>(text[at])])
    if (text.substr(at).starts_with(token.text)) return &token;
  return nullptr;
}

std::vector<AddedTokens::Found> AddedTokens::find(std::string_view text) const {
  std::vector<Found> found;
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    const AddedToken* token = longest_at(text, at);
    if (token == nullptr) {
      ++at;
      continue;
    }
    size_t from = at, to = at + token->text.size();
    at = to;
    const bool inside =
        (from > 0 && is_word(code_at(text, before(text, from)))) || (to < text.size() && is_word(code_at(text, to)));
    if (token->single_word && inside) continue;
    if (token->lstrip)
      while (from > done && is_space(code_at(text, before(text, from)))) from = before(text, from);
    if (token->rstrip)
      while (to < text.size() && is_space(code_at(text, to))) to += sequence_at(text, to);
    found.push_back({from, to, token});
    done = to;
    at = std::max(at, to);
  }
  return found;
}

std::string TokenizerParts::normalize(std::string_view text) const {
  const bool ascii = std::all_of(text.begin(), text.end(), [](char c) { return static_cast<uint8_t>(c) < 0x80; });
  if (!nfc || ascii) return std::string(text);
  utf8proc_uint8_t* made = nullptr;
  const auto length =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &made, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  MTMC_CHECK(length >= 0, utf8proc_errmsg(length));
  std::string normal(reinterpret_cast<const char*>(made), static_cast<size_t>(length));
  std::free(made);
  return normal;
}

TokenId TokenizerParts::token_of_word(std::string_view word) const {
  std::string text;
  for (const char c : word) text += byte_alphabet()[static_cast<uint8_t>(c)];
  const auto found = ids.find(text);
  return found == ids.end() ? -1 : found->second;
}

// Merges the pair of the lowest rank, the leftmost first, until none is left.
void TokenizerParts::encode_word(std::string_view word, std::vector<TokenId>& out) const {
  if (whole_words_first)
    if (const TokenId whole = token_of_word(word); whole >= 0) return out.push_back(whole);
  struct Symbol {
    TokenId id;
    int previous, next;
    bool gone;
  };
  std::vector<Symbol> symbols;
  for (const char c : word) {
    const TokenId id = bytes[static_cast<uint8_t>(c)];
    if (id < 0) continue;  // a byte without a token is dropped when there is no unknown token
    const int at = static_cast<int>(symbols.size());
    symbols.push_back({id, at - 1, at + 1, false});
  }
  if (symbols.empty()) return;
  symbols.back().next = -1;
  using Candidate = std::tuple<int32_t, int, TokenId, TokenId, TokenId>;  // rank, place, left, right, made
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto consider = [&](int left) {
    if (left < 0 || symbols[static_cast<size_t>(left)].next < 0) return;
    const TokenId a = symbols[static_cast<size_t>(left)].id;
    const TokenId b = symbols[static_cast<size_t>(symbols[static_cast<size_t>(left)].next)].id;
    const auto merge = merges.find(static_cast<uint64_t>(a) << 32 | static_cast<uint32_t>(b));
    if (merge != merges.end()) queue.emplace(merge->second.rank, left, a, b, merge->second.made);
  };
  for (int i = 0; i + 1 < static_cast<int>(symbols.size()); ++i) consider(i);
  while (!queue.empty()) {
    const auto [rank, place, a, b, made] = queue.top();
    queue.pop();
    Symbol& left = symbols[static_cast<size_t>(place)];
    if (left.gone || left.id != a || left.next < 0) continue;
    Symbol& right = symbols[static_cast<size_t>(left.next)];
    if (right.id != b) continue;
    left.id = made;
    right.gone = true;
    left.next = right.next;
    if (left.next >= 0) symbols[static_cast<size_t>(left.next)].previous = place;
    consider(left.previous);
    consider(place);
  }
  for (int i = 0; i >= 0; i = symbols[static_cast<size_t>(i)].next) out.push_back(symbols[static_cast<size_t>(i)].id);
}

void TokenizerParts::encode_plain(std::string_view text, std::vector<TokenId>& out) const {
  std::vector<std::string> kept;  // what prefix spaces made
  kept.reserve(pre.size());       // views point into it
  std::vector<std::string_view> words{text};
  for (const PreTokenizer& step : pre) {
    if (step.prefix_space && !words.empty() && !words[0].starts_with(' '))  // only texts without cuts before have these
      words[0] = kept.emplace_back(" " + std::string(words[0]));
    if (step.splitters.empty()) continue;
    std::vector<std::string_view> cut;
    for (const std::string_view word : words) step.splitters[0].split(word, cut);
    words = std::move(cut);
  }
  for (const std::string_view word : words) encode_word(word, out);
}

Result<std::vector<TokenId>> Tokenizer::encode(std::string_view text, bool special) const {
  for (size_t at = 0; at < text.size();) {
    const size_t length = sequence_at(text, at);
    if (length == 0) return Error{"tokenising a text", "not UTF-8", "byte " + std::to_string(at), ""};
    at += length;
  }
  std::vector<TokenId> out;
  if (special) out = parts_->before;
  const auto each_gap = [](std::string_view whole, const AddedTokens& tokens, auto&& gap, auto&& token) {
    size_t done = 0;
    for (const auto& found : tokens.find(whole)) {
      if (found.from > done) gap(whole.substr(done, found.from - done));
      token(found.token->id);
      done = found.to;
    }
    if (done < whole.size()) gap(whole.substr(done));
  };
  const auto add = [&](TokenId id) { out.push_back(id); };
  each_gap(
      text, parts_->plain,
      [&](std::string_view part) {
        const std::string normal = parts_->normalize(part);
        each_gap(
            normal, parts_->normalized, [&](std::string_view rest) { parts_->encode_plain(rest, out); }, add);
      },
      add);
  if (special) out.insert(out.end(), parts_->after.begin(), parts_->after.end());
  return out;
}

std::string Tokenizer::decode(const std::vector<TokenId>& tokens, bool skip_special) const {
  static const std::unordered_map<std::string, char> byte_of = [] {
    std::unordered_map<std::string, char> made;
    for (int byte = 0; byte < 256; ++byte)
      made.emplace(byte_alphabet()[static_cast<size_t>(byte)], static_cast<char>(byte));
    return made;
  }();
  std::string bytes;
  for (const TokenId id : tokens) {
    if (id < 0 || id >= size() || (skip_special && parts_->special[static_cast<size_t>(id)])) continue;
    const std::string& token = parts_->tokens[static_cast<size_t>(id)];
    std::string meant;
    for (size_t at = 0; at < token.size();) {
      const size_t length = std::max<size_t>(1, sequence_at(token, at));
      const auto byte = byte_of.find(token.substr(at, length));
      if (byte == byte_of.end()) {  // an added token that is not written in the byte alphabet
        meant = token;
        break;
      }
      meant += byte->second;
      at += length;
    }
    bytes += meant;
  }
  return lossy(bytes);
}

TokenId Tokenizer::size() const { return static_cast<TokenId>(parts_->tokens.size()); }

TokenId Tokenizer::id_of(const std::string& token) const {
  const auto found = parts_->ids.find(token);
  return found == parts_->ids.end() ? -1 : found->second;
}

}  // namespace mtmc
