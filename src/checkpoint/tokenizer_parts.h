// What a Tokenizer consists of; for tokenizer.cpp and the reader of tokenizer.json.
#pragma once
#include <array>
#include <string>
#include <unordered_map>
#include <vector>

#include "checkpoint/splitter.h"
#include "checkpoint/tokenizer.h"

namespace mtmc {

struct AddedToken {
  std::string text;
  TokenId id = 0;
  bool special = false;
  bool normalized = false;   // looked for in normalized text, else in the text as it is
  bool single_word = false;  // not inside of a word
  bool lstrip = false;       // takes the spaces before it
  bool rstrip = false;       // takes the spaces after it
};

// Finds added tokens: at each place the longest, the leftmost first.
class AddedTokens {
 public:
  void add(AddedToken token);
  struct Found {
    size_t from = 0, to = 0;
    const AddedToken* token = nullptr;
  };
  std::vector<Found> find(std::string_view text) const;

 private:
  const AddedToken* longest_at(std::string_view text, size_t at) const;
  std::array<std::vector<AddedToken>, 256> by_byte_;  // longest first
};

// Cuts each word again, or puts a space before it.
struct PreTokenizer {
  std::vector<Splitter> splitters;  // one; none: the prefix space alone
  bool prefix_space = false;
};

struct Merge {
  int32_t rank = 0;
  TokenId made = 0;
};

struct TokenizerParts {
  std::vector<std::string> tokens;  // by id, in the byte alphabet; added ones as they are; "" where there is none
  std::unordered_map<std::string, TokenId> ids;
  std::vector<bool> special;
  std::unordered_map<uint64_t, Merge> merges;  // left id << 32 | right id
  std::array<TokenId, 256> bytes;              // the token of each byte, -1 where there is none
  bool whole_words_first = false;              // `ignore_merges`: a word that is a token is not cut
  bool nfc = false;
  AddedTokens plain, normalized;
  std::vector<PreTokenizer> pre;
  std::vector<TokenId> before, after;  // the template

  std::string normalize(std::string_view text) const;
  // Appends the tokens of a text without added ones.
  void encode_plain(std::string_view text, std::vector<TokenId>& tokens) const;
  void encode_word(std::string_view word, std::vector<TokenId>& tokens) const;
  TokenId token_of_word(std::string_view word) const;
};

// GPT-2's byte alphabet: a printable character, as UTF-8, for each byte.
const std::array<std::string, 256>& byte_alphabet();

}  // namespace mtmc
