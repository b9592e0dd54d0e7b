// Byte-level byte-pair encoding, as tokenizer.json of Hugging Face's `tokenizers` states it and exactly as that library
// does it: added tokens, normalizer (none or NFC), pre-tokenizers (Split, ByteLevel, Digits, Sequence), BPE, template,
// decoder.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace mtmc {

using TokenId = int32_t;
struct TokenizerParts;

class Tokenizer {
 public:
  // An Error for what is malformed, and for kinds of tokenizers that are none of the above.
  static Result<Tokenizer> from_json(const Json& json);
  static Result<Tokenizer> from_file(const std::filesystem::path& path);

  // The tokens of `text`, which must be UTF-8. `special` adds what the template puts around (a begin-of-text token).
  Result<std::vector<TokenId>> encode(std::string_view text, bool special) const;
  // The text of tokens; bytes that are no UTF-8 become U+FFFD. Ids out of range are left out, as are special ones if
  // asked.
  std::string decode(const std::vector<TokenId>& tokens, bool skip_special) const;
  // One more than the highest id.
  TokenId size() const;
  // The id of a token by its text in tokenizer.json, or -1.
  TokenId id_of(const std::string& token) const;

 private:
  std::shared_ptr<const TokenizerParts> parts_;
};

// The arrays that a GGUF file holds of its tokenizer, as a tokenizer.json. `pre` names the pre-tokenizer: smollm,
// llama-bpe, qwen2, deepseek-coder, gpt-2; type 3 is a special token, 4 another added one.
Result<Json> tokenizer_json(const std::string& pre, const std::vector<std::string>& tokens,
                            const std::vector<int32_t>& types, const std::vector<std::string>& merges);

}  // namespace mtmc
