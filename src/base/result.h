// Result<T>: a value or an Error. The user's mistakes and failures that are expected in the loop travel this way, never
// as exceptions.
#pragma once
#include <concepts>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/check.h"

namespace mtmc {

// What went wrong, in the four parts that every message of ours has.
struct Error {
  std::string doing;   // what was being done: "parsing a program"
  std::string wrong;   // what is wrong: "unknown operator"
  std::string got;     // what was found (may be empty)
  std::string wanted;  // what would have been right (may be empty)
  bool ours = false;   // is it a bug of ours rather than a mistake of the user's, or what machines do?

  // "parsing a program: unknown operator: got 'foo', wanted one of relu, gelu"
  std::string message() const {
    std::string text = doing.empty() ? wrong : doing + ": " + wrong;
    if (!got.empty()) text += ": got " + got;
    if (!wanted.empty()) text += (got.empty() ? ": wanted " : ", wanted ") + wanted;
    return text;
  }
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : data_(std::move(value)) {}      // NOLINT: implicit on purpose, `return value;`
  Result(Error error) : data_(std::move(error)) {}  // NOLINT
  template <typename U>
  requires(std::convertible_to<U&&, T> && !std::same_as<std::remove_cvref_t<U>, T> &&
           !std::same_as<std::remove_cvref_t<U>, Result>) Result(U&& value)
      : data_(T(std::forward<U>(value))) {}  // NOLINT: a derived class's pointer, as for T itself
  bool ok() const { return data_.index() == 0; }
  // Not of a Result<bool>: `if (result)` could mean either.
  explicit operator bool() const requires(!std::same_as<T, bool>) { return ok(); }
  const T& value() const& {
    check_ok();
    return std::get<0>(data_);
  }
  T& value() & {
    check_ok();
    return std::get<0>(data_);
  }
  T&& value() && {
    check_ok();
    return std::get<0>(std::move(data_));
  }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }
  const Error& error() const {
    MTMC_CHECK(!ok(), "error() of a Result that holds a value");
    return std::get<1>(data_);
  }

 private:
  void check_ok() const { MTMC_CHECK(ok(), std::get<1>(data_).message()); }
  std::variant<T, Error> data_;
};

struct Unit {};
using Status = Result<Unit>;
inline Status ok_status() { return Unit{}; }

// `MTMC_TRY(auto x, f());` binds the value or returns the error to our caller.
#define MTMC_CONCAT_(a, b) a##b
#define MTMC_CONCAT(a, b) MTMC_CONCAT_(a, b)
#define MTMC_TRY(declaration, expression) MTMC_TRY_(MTMC_CONCAT(result_, __LINE__), declaration, expression)
#define MTMC_TRY_(name, declaration, expression) \
  auto name = (expression);                      \
  if (!name.ok()) return name.error();           \
  declaration = std::move(name).value()
#define MTMC_RETURN_IF_ERROR(expression)       \
  do {                                         \
    auto status_ = (expression);               \
    if (!status_.ok()) return status_.error(); \
  } while (false)

}  // namespace mtmc
