#include "coder/bill.h"

#include <nlohmann/json.hpp>

#include "base/json.h"

namespace mtmc {

void Bill::add(const ChatReply& reply) {
  ++questions;
  remembered += reply.remembered;
  tokens.input += reply.tokens.input, tokens.output += reply.tokens.output, usd += reply.usd;
}

void Bill::add(const Bill& more) {
  questions += more.questions, remembered += more.remembered;
  tokens.input += more.tokens.input, tokens.output += more.tokens.output, usd += more.usd;
  answers.insert(answers.end(), more.answers.begin(), more.answers.end());
}

std::string Bill::note(const std::string& model) const {
  return Json({{"llm",
                {{"model", model},
                 {"questions", questions},
                 {"remembered", remembered},
                 {"input_tokens", tokens.input},
                 {"output_tokens", tokens.output},
                 {"usd", usd},
                 {"answers", answers}}}})
      .dump();
}

std::string Bill::draft_note(const std::string& model) const {
  return Json({{"llm", {{"model", model}, {"answers", answers}}}}).dump();
}

}  // namespace mtmc
