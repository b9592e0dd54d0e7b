#include "llm/key.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/file.h"
#include "base/text.h"

namespace mtmc {
namespace {

constexpr const char* kReadingKey = "reading the key of the language model";
constexpr size_t kShortest = 8;  // shorter ones would be scrubbed out of ordinary text

}  // namespace

Keys Keys::take(const std::filesystem::path& user_table) {
  Keys keys;
  for (const std::string& variable : key_variables(user_table)) {
    char* value = std::getenv(variable.c_str());
    if (value == nullptr) continue;
    const std::string text = keys.texts_[variable] = value;
    std::memset(value, '*', text.size());
    unsetenv(variable.c_str());
  }
  return keys;
}

void Keys::show() const {
  for (const auto& [variable, text] : texts_) setenv(variable.c_str(), text.c_str(), 1);
}

void Keys::hide() const {
  for (const auto& [variable, text] : texts_) unsetenv(variable.c_str());
}

Result<Key> Key::of(std::string text, const std::string& where) {
  text = std::string(trim(text));
  const bool printable = std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127; });
  if (text.size() < kShortest || !printable)
    return Error{kReadingKey, "this is no key", std::to_string(text.size()) + " characters in " + where,
                 "one word of at least 8 letters, digits and signs"};
  Key key;
  key.text_ = std::move(text);
  return key;
}

Result<Key> Key::find(const ModelFacts& model, const std::string& file, const Keys& keys) {
  if (!file.empty()) {
    MTMC_TRY(const std::string text, read_file(file));
    return of(text.substr(0, text.find('\n')), file);
  }
  if (const auto at = keys.texts_.find(model.key); at != keys.texts_.end()) return of(at->second, "$" + model.key);
  if (!model.needs_key) return Key();
  return Error{kReadingKey, model.name + " needs one", "", "$" + model.key + ", or --key-file FILE"};
}

std::string Key::header(Protocol protocol) const {
  if (empty()) return "";
  return (protocol == Protocol::messages ? "x-api-key: " : "Authorization: Bearer ") + text_;
}

std::string Key::scrub(std::string text) const { return empty() ? text : replace_all(std::move(text), text_, "[key]"); }

}  // namespace mtmc
