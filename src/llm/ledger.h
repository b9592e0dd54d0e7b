// What language models have cost: tokens and money of one process, in step with a limit that no request may pass. Safe
// to use from several threads.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <functional>
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
  double unsure_usd = 0;  // part of it that is an upper bound: of requests that broke off or are under way
  int64_t unpriced = 0;   // requests to a model that nobody has told the price of
};

class Ledger {
 public:
  explicit Ledger(std::optional<double> most_usd = std::nullopt) : most_(most_usd) {}
  Ledger(const Ledger&) = delete;

  // Sets aside what a request can cost at most (nothing: nobody knows); an Error when that could pass the limit. What
  // other requests that are under way have set aside they may not need: it is waited for. `settle` follows.
  Status reserve(std::optional<double> at_most);
  // What it did cost. `sure` is false for an upper bound.
  Status settle(double reserved, const Tokens& tokens, double cost, bool sure);
  // The request was not sent.
  void give_back(std::optional<double> reserved);
  void remembered();
  // Other processes have spent this on what goes on here: it counts against the limit.
  void spent_before(double usd);

  // Requests that are under way count with the most that they can cost.
  Spent spent() const;
  std::optional<double> limit() const { return most_; }

  // Called after each change, by the thread that made it: books are kept before a request is sent, so that they are
  // right whenever the process ends. Its Error stops the request. Empty: nobody keeps books.
  using Booking = std::function<Status()>;
  void book_by(Booking booking);

 private:
  Status book();
  void unreserve(double reserved);  // under the lock

  mutable std::mutex mutex_;
  std::condition_variable settled_;
  int under_way_ = 0;
  std::optional<double> most_;
  double reserved_ = 0, before_ = 0;
  Spent spent_;
  Booking booking_;
};

Spent operator-(const Spent& a, const Spent& b);
Spent operator+(const Spent& a, const Spent& b);
Json to_json(const Spent& spent);
Spent spent_from_json(const Json& json);
// "3 requests (1 more answered by the store), 12034 + 3400 tokens, $0.0421"
std::string describe(const Spent& spent);

}  // namespace mtmc
