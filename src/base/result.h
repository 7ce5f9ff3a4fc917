#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace rdmalab {

/// The program's exit status; stable, documented in docs/exit-codes.md and `rdmalab --help`.
enum class Exit : int {
  ok = 0,            ///< all expectations met
  expectation = 1,   ///< an expectation failed
  usage = 2,         ///< command line or lab file
  environment = 3,   ///< this machine can't run it
  setup = 4,         ///< set-up failed, or something read back different
  traffic = 5,       ///< traffic broke unexpectedly
  timeout = 6,       ///< wall-clock limit
  guest = 7,         ///< guest panic or kernel splat
  inconclusive = 8,  ///< inconclusive or invalid under --strict
  skipped = 77,      ///< nothing could be run, and that was asked for
  interrupted = 130, ///< Ctrl-C
};

/// What went wrong, for a person: what was attempted, where, why (errno), and one hint.
struct Error {
  Exit exit = Exit::setup;
  std::string attempted; ///< "create veth pair client0/p0"
  int number = 0;        ///< errno, 0 if there is none
  std::string hint;      ///< the remedy, one sentence, may be empty
  std::string where;     ///< "file:line:column", may be empty

  /// "where: attempted: Reason" without the hint.
  [[nodiscard]] std::string message() const;
};

/// An Error from errno; call it directly after the failing call.
[[nodiscard]] Error system_error(std::string attempted, Exit exit = Exit::setup,
                                 std::string hint = {});
/// An Error from an errno value (positive).
[[nodiscard]] Error system_error(int number, std::string attempted, Exit exit = Exit::setup,
                                 std::string hint = {});

/// An Error of what the person wrote: the command line or a lab.
[[nodiscard]] Error usage_error(std::string attempted, std::string hint = {});

/// A value or an Error. Reading the one that isn't there is a bug and asserts.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return assert(ok()), *std::get_if<0>(&state_); }
  const T& value() const& { return assert(ok()), *std::get_if<0>(&state_); }
  T&& value() && { return assert(ok()), std::move(*std::get_if<0>(&state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  Error& error() & { return assert(!ok()), *std::get_if<1>(&state_); }
  const Error& error() const& { return assert(!ok()), *std::get_if<1>(&state_); }
  Error&& error() && { return assert(!ok()), std::move(*std::get_if<1>(&state_)); }

private:
  std::variant<T, Error> state_;
};

/// Success, or an Error.
template <> class [[nodiscard]] Result<void> {
public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  [[nodiscard]] bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  Error& error() & { return assert(error_), *error_; }
  const Error& error() const& { return assert(error_), *error_; }
  Error&& error() && { return assert(error_), std::move(*error_); }

private:
  std::optional<Error> error_;
};

using Status = Result<void>;

} // namespace rdmalab

#define RDMALAB_CONCAT_(a, b) a##b
#define RDMALAB_CONCAT(a, b) RDMALAB_CONCAT_(a, b)

/// TRY(expression): returns the Error from this function if the Status is one.
#define TRY(...)                                                                                   \
  do {                                                                                             \
    if (auto try_status_ = (__VA_ARGS__); !try_status_) return std::move(try_status_).error();     \
  } while (false)

/// TRY_ASSIGN(auto x, expression): x becomes the Result's value, or its Error is returned.
#define TRY_ASSIGN(lhs, ...) TRY_ASSIGN_(RDMALAB_CONCAT(try_result_, __LINE__), lhs, __VA_ARGS__)
#define TRY_ASSIGN_(result, lhs, ...)                                                              \
  auto result = (__VA_ARGS__);                                                                     \
  if (!result) return std::move(result).error();                                                   \
  lhs = std::move(result).value()
