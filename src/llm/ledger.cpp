#include "llm/ledger.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

namespace mtmc {

double usd(const Tokens& tokens, const Price& price) {
  return (static_cast<double>(tokens.input) * price.input + static_cast<double>(tokens.output) * price.output) / 1e6;
}

Status Ledger::reserve(double at_most) {
  const std::lock_guard lock(mutex_);
  if (most_ && spent_.usd + reserved_ + at_most > *most_)
    return Error{"asking the language model", "this request could pass the cost limit",
                 fmt::format("${:.4f} spent, up to ${:.4f} more", spent_.usd + reserved_, at_most),
                 fmt::format("--max-cost above {}, or fewer --answer-tokens", *most_)};
  reserved_ += at_most;
  ++spent_.requests;
  return ok_status();
}

void Ledger::settle(double reserved, const Tokens& tokens, double cost, bool sure) {
  const std::lock_guard lock(mutex_);
  reserved_ -= reserved;
  spent_.input += tokens.input, spent_.output += tokens.output, spent_.usd += cost;
  if (!sure) spent_.unsure_usd += cost;
}

void Ledger::remembered() {
  const std::lock_guard lock(mutex_);
  ++spent_.remembered;
}

Spent Ledger::spent() const {
  const std::lock_guard lock(mutex_);
  return spent_;
}

Spent operator-(const Spent& a, const Spent& b) {
  return {a.requests - b.requests, a.remembered - b.remembered, a.input - b.input, a.output - b.output,
          a.usd - b.usd,           a.unsure_usd - b.unsure_usd};
}

Spent operator+(const Spent& a, const Spent& b) {
  return {a.requests + b.requests, a.remembered + b.remembered, a.input + b.input, a.output + b.output,
          a.usd + b.usd,           a.unsure_usd + b.unsure_usd};
}

Json to_json(const Spent& spent) {
  return {{"requests", spent.requests},
          {"remembered", spent.remembered},
          {"input_tokens", spent.input},
          {"output_tokens", spent.output},
          {"usd", spent.usd},
          {"unsure_usd", spent.unsure_usd}};
}

Spent spent_from_json(const Json& json) {
  return {json.at("requests"),      json.at("remembered"), json.at("input_tokens"),
          json.at("output_tokens"), json.at("usd"),        json.at("unsure_usd")};
}

std::string describe(const Spent& spent) {
  return fmt::format("{} requests{}, {} + {} tokens, ${:.4f}{}", spent.requests,
                     spent.remembered > 0 ? fmt::format(" ({} more answered by the store)", spent.remembered) : "",
                     spent.input, spent.output, spent.usd,
                     spent.unsure_usd > 0 ? fmt::format(" (at most: ${:.4f} of it broke off)", spent.unsure_usd) : "");
}

}  // namespace mtmc
