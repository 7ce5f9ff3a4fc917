#pragma once

#include <string_view>

/// The rules that a trace is held against, and what rxe is known to do otherwise.
namespace rdmalab::analysis {

struct ProtocolRule {
  std::string_view text;
  std::string_view section; ///< IB specification vol. 1
};

namespace rule {

inline constexpr ProtocolRule next_psn{
    "the PSN of a new request is the one behind the request before it", "9.7.3"};
inline constexpr ProtocolRule outstanding{"at most 2^23 PSNs may be outstanding", "9.7.2"};
inline constexpr ProtocolRule message_order{
    "the packets of a message come as first, middle … last, or as one only", "9.7.3"};
inline constexpr ProtocolRule go_back{
    "after a NAK of a sequence error the requester sends again from the NAKed PSN or before",
    "9.7.6"};
inline constexpr ProtocolRule ack_range{
    "a responder acknowledges only requests that arrived in order", "9.7.5"};
inline constexpr ProtocolRule ack_order{"the PSNs that a responder acknowledges don't go back",
                                        "9.7.5"};
inline constexpr ProtocolRule nak_psn{
    "a NAK of a sequence error names the PSN that the responder expects", "9.7.5"};
inline constexpr ProtocolRule nak_gap{
    "a NAK of a sequence error follows a request that left out a PSN", "9.7.5"};
inline constexpr ProtocolRule nak_once{
    "after a NAK of a sequence error the responder sends none until the expected PSN arrives",
    "9.7.5"};
inline constexpr ProtocolRule response_asked{
    "a read response answers a READ request that arrived in order or again", "9.7.5"};
inline constexpr ProtocolRule response_order{
    "the responses to a READ follow each other from the PSN that was asked for", "9.7.5"};

} // namespace rule

struct KnownDeviation {
  std::string_view name;
  std::string_view why;
};

namespace deviation {

inline constexpr KnownDeviation window{
    "beyond-window", "more PSNs are outstanding than rxe's window of 128 (rxe_param.h): another "
                     "device, or one READ that takes more"};
inline constexpr KnownDeviation early_timer{
    "early-timer", "sent again more than two ticks of 4 ms before the ACK timeout was over"};
inline constexpr KnownDeviation late_timer{
    "late-timer", "more than four ACK timeouts passed, which 9.7.6.1.3 allows: the core was busy"};
inline constexpr KnownDeviation acknowledged{
    "acknowledged-again", "sent again although its ACK had arrived: it was under way to the "
                          "completer while the requester went back"};
inline constexpr KnownDeviation unexplained{
    "unexplained", "sent again without a NAK, an implied NAK or a time-out in the trace"};

} // namespace deviation

} // namespace rdmalab::analysis
