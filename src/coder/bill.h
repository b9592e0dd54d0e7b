// What one step of a language model's cost and which answers it had, as it is kept with the attempt.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "llm/client.h"

namespace mtmc {

struct Bill {
  int questions = 0, remembered = 0;
  Tokens tokens;
  double usd = 0;
  std::vector<std::vector<std::string>> answers;  // the exchanges of each: one that broke off has several

  void add(const ChatReply& reply);
  void add(const Bill& more);
  std::string note(const std::string& model) const;
  // Of a draft on the way to it: the answers until then. What they cost is in the step's own note.
  std::string draft_note(const std::string& model) const;
};

}  // namespace mtmc
