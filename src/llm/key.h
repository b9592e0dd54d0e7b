// A key to a language model's server. It leaves this class only in a request's header; whatever is printed, stored or
// sent otherwise goes through `scrub`.
#pragma once
#include <map>
#include <string>

#include "base/result.h"
#include "llm/model.h"

namespace mtmc {

// The environment variables that can hold keys, by name. `take` takes them out of our environment, and out of what the
// system shows of it: no child inherits them. Call it before children are started.
class Keys {
 public:
  static Keys take(const std::filesystem::path& user_table = user_models_path());
  // Back into the environment, for children who ask models themselves, and out of it again.
  void show() const;
  void hide() const;

 private:
  friend class Key;
  std::map<std::string, std::string> texts_;
};

class Key {
 public:
  Key() = default;
  // From the first line of `file`, else the variable of the model. An Error: there is none and the model needs one, or
  // it holds characters that no key has. The text of a wrong key is never part of the message.
  static Result<Key> find(const ModelFacts& model, const std::string& file, const Keys& keys);
  static Result<Key> of(std::string text, const std::string& where);

  bool empty() const { return text_.empty(); }
  // "Authorization: Bearer ...", or what the protocol wants; empty without a key.
  std::string header(Protocol protocol) const;
  // The text without the key.
  std::string scrub(std::string text) const;

 private:
  std::string text_;
};

}  // namespace mtmc
