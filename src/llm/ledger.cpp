#include "llm/ledger.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

namespace mtmc {

double usd(const Tokens& tokens, const Price& price) {
  return (static_cast<double>(tokens.input) * price.input + static_cast<double>(tokens.output) * price.output) / 1e6;
}

Status Ledger::reserve(std::optional<double> at_most) {
  {
    std::unique_lock lock(mutex_);
    const double more = at_most.value_or(0);
    settled_.wait(lock, [&] {
      const double sure = before_ + spent_.usd + more;  // no more money will ever be left
      return !most_ || sure > *most_ || sure + reserved_ <= *most_ || under_way_ == 0;
    });
    const double spent = before_ + spent_.usd + reserved_;
    if (most_ && spent + more > *most_)
      return Error{"asking the language model", "this request could pass the cost limit",
                   fmt::format("${:.4f} spent, up to ${:.4f} more", spent, more),
                   fmt::format("--max-cost above {}, or fewer --answer-tokens", *most_)};
    reserved_ += more, ++under_way_;
    ++spent_.requests;
    if (!at_most) ++spent_.unpriced;
  }
  const Status booked = book();
  if (!booked.ok()) give_back(at_most);
  return booked;
}

Status Ledger::settle(double reserved, const Tokens& tokens, double cost, bool sure) {
  {
    const std::lock_guard lock(mutex_);
    unreserve(reserved);
    spent_.input += tokens.input, spent_.output += tokens.output, spent_.usd += cost;
    if (!sure) spent_.unsure_usd += cost;
  }
  return book();
}

void Ledger::give_back(std::optional<double> reserved) {
  const std::lock_guard lock(mutex_);
  unreserve(reserved.value_or(0));
  --spent_.requests;
  if (!reserved) --spent_.unpriced;
}

void Ledger::unreserve(double reserved) {
  reserved_ -= reserved;
  if (--under_way_ == 0) reserved_ = 0;  // sums and differences of fractions do not end at nothing
  settled_.notify_all();
}

void Ledger::spent_before(double usd) {
  const std::lock_guard lock(mutex_);
  before_ += usd;
}

void Ledger::book_by(Booking booking) {
  const std::lock_guard lock(mutex_);
  booking_ = std::move(booking);
}

Status Ledger::book() {
  Booking booking;
  {
    const std::lock_guard lock(mutex_);
    booking = booking_;
  }
  return booking ? booking() : ok_status();
}

void Ledger::remembered() {
  const std::lock_guard lock(mutex_);
  ++spent_.remembered;
}

Spent Ledger::spent() const {
  const std::lock_guard lock(mutex_);
  Spent spent = spent_;
  spent.usd += reserved_, spent.unsure_usd += reserved_;
  return spent;
}

Spent operator-(const Spent& a, const Spent& b) {
  return {a.requests - b.requests, a.remembered - b.remembered, a.input - b.input,      a.output - b.output,
          a.usd - b.usd,           a.unsure_usd - b.unsure_usd, a.unpriced - b.unpriced};
}

Spent operator+(const Spent& a, const Spent& b) {
  return {a.requests + b.requests, a.remembered + b.remembered, a.input + b.input,      a.output + b.output,
          a.usd + b.usd,           a.unsure_usd + b.unsure_usd, a.unpriced + b.unpriced};
}

Json to_json(const Spent& spent) {
  return {{"requests", spent.requests},
          {"remembered", spent.remembered},
          {"input_tokens", spent.input},
          {"output_tokens", spent.output},
          {"usd", spent.usd},
          {"unsure_usd", spent.unsure_usd},
          {"unpriced", spent.unpriced}};
}

Spent spent_from_json(const Json& json) {
  return {json.at("requests"), json.at("remembered"), json.at("input_tokens"),           json.at("output_tokens"),
          json.at("usd"),      json.at("unsure_usd"), json.value("unpriced", int64_t(0))};  // accounts of before do not
                                                                                            // have it
}

std::string describe(const Spent& spent) {
  std::string money = fmt::format("${:.4f}", spent.usd);
  if (spent.unsure_usd > 0) money += fmt::format(" (at most: ${:.4f} of it broke off)", spent.unsure_usd);
  if (spent.unpriced > 0)
    money = spent.unpriced == spent.requests
                ? "price unknown"
                : money + fmt::format(" and {} requests whose price is unknown", spent.unpriced);
  return fmt::format("{} requests{}, {} + {} tokens, {}", spent.requests,
                     spent.remembered > 0 ? fmt::format(" ({} more answered by the store)", spent.remembered) : "",
                     spent.input, spent.output, money);
}

}  // namespace mtmc
