#pragma once

#include <cstdint>
#include <string>

namespace rdmalab::wire {

/// The codes of a NAK (IB specification vol. 1, 9.7.5.1.1, table 44).
enum class NakCode : std::uint8_t {
  psn_sequence_error = 0,
  invalid_request = 1,
  remote_access_error = 2,
  remote_operational_error = 3,
  invalid_rd_request = 4,
};

/// What the syndrome byte of an AETH says (IB specification vol. 1, 9.7.5.1.1).
struct Syndrome {
  enum class Kind : std::uint8_t { ack, rnr_nak, reserved, nak };
  Kind kind = Kind::ack;
  /// The lower five bits. ACK: credit count code; RNR NAK: timer code; NAK: NakCode.
  std::uint8_t value = 0;

  static Syndrome decode(std::uint8_t syndrome);
  [[nodiscard]] std::uint8_t encode() const;
  /// How long the requester has to wait after an RNR NAK, ns; 0 for other kinds.
  [[nodiscard]] std::uint64_t rnr_timer_ns() const;
  /// "ACK", "NAK PSN sequence error", "RNR NAK 0.64 ms".
  [[nodiscard]] std::string text() const;

  static Syndrome ack(std::uint8_t credits = 31) { return {Kind::ack, credits}; }
  static Syndrome nak(NakCode code) { return {Kind::nak, static_cast<std::uint8_t>(code)}; }
  static Syndrome rnr(std::uint8_t timer) { return {Kind::rnr_nak, timer}; }
  bool operator==(const Syndrome&) const = default;
};

/// The time of a 5-bit RNR NAK timer code, ns (IB specification vol. 1, 9.7.5.2.8, table 45): 0 is
/// the longest, 655.36 ms.
std::uint64_t rnr_timer_ns(std::uint8_t code);

} // namespace rdmalab::wire
