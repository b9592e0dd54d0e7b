// What language models have cost: tokens and money of one process, in step with a limit that no request may pass. Safe
// to use from several threads.
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "llm/model.h"

namespace mtmc {

struct Tokens {
  int64_t input = 0, output = 0;
  bool counted = true;  // by the server; else by us, from bytes
};

double usd(const Tokens& tokens, const Price& price);

struct Spent {
  int64_t requests = 0;    // that were sent
  int64_t remembered = 0;  // questions whose answer the store had: free
  int64_t input = 0, output = 0;
  double usd = 0;
  double unsure_usd = 0;  // part of it that is an upper bound: of requests that broke off
};

class Ledger {
 public:
  explicit Ledger(std::optional<double> most_usd = std::nullopt) : most_(most_usd) {}
  Ledger(const Ledger&) = delete;

  // Sets aside what a request can cost at most; an Error when that could pass the limit. `settle` follows.
  Status reserve(double at_most);
  // What it did cost. `sure` is false for an upper bound.
  void settle(double reserved, const Tokens& tokens, double cost, bool sure);
  void remembered();

  Spent spent() const;
  std::optional<double> limit() const { return most_; }

 private:
  mutable std::mutex mutex_;
  std::optional<double> most_;
  double reserved_ = 0;
  Spent spent_;
};

Spent operator-(const Spent& a, const Spent& b);
Spent operator+(const Spent& a, const Spent& b);
Json to_json(const Spent& spent);
Spent spent_from_json(const Json& json);
// "3 requests (1 remembered), 12034 + 3400 tokens, $0.0421"
std::string describe(const Spent& spent);

}  // namespace mtmc
