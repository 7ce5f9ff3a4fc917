/// Traces that are written packet by packet.
#pragma once

#include "recovery_fixture.h"

namespace rdmalab::analysis::test {

/// A QP whose packets are written by hand: client asks, server answers. PSNs are relative.
class RcScript {
public:
  static constexpr std::uint32_t first_psn = 1000;
  static constexpr std::uint64_t delay_ns = 10'000;

  RcScript()
  {
    owned.trace.hosts = {"client", "server"};
    owned.trace.rules = {"drop"};
    back_.addresses(*wire::parse_ip("10.0.0.2"), *wire::parse_ip("10.0.0.1"));
    flows.verbs.push_back({"roce", 0, "client", "server", 17, 117, first_psn, 77, 1024, 2'000'000});
  }

  RcScript& request(std::uint64_t time_ns, std::int64_t psn, std::string_view opcode,
                    bool lost = false, std::uint32_t read_packets = 0)
  {
    wire::RoceHeaders headers = wire::headers_of(*wire::find_opcode(opcode));
    headers.bth.destination_qp = 117;
    if (headers.reth) headers.reth->length = read_packets * 1024;
    return add(time_ns, true, headers, psn, headers.aeth || read_packets > 0 ? 0 : 1024, lost);
  }
  RcScript& answer(std::uint64_t time_ns, std::int64_t psn, wire::Syndrome syndrome,
                   bool lost = false)
  {
    wire::RoceHeaders headers = wire::headers_of(*wire::find_opcode("RC_ACKNOWLEDGE"));
    headers.aeth = wire::Aeth{syndrome.encode(), 0};
    headers.bth.destination_qp = 17;
    return add(time_ns, false, headers, psn, 0, lost);
  }
  RcScript& result(std::uint64_t time_ns, std::int64_t psn, std::string_view opcode)
  {
    wire::RoceHeaders headers = wire::headers_of(*wire::find_opcode(opcode));
    headers.bth.destination_qp = 17;
    return add(time_ns, false, headers, psn, 1024, false);
  }
  RcScript& nak(std::uint64_t time_ns, std::int64_t psn)
  {
    return answer(time_ns, psn, wire::Syndrome::nak(wire::NakCode::psn_sequence_error));
  }
  RcScript& ack(std::uint64_t time_ns, std::int64_t psn)
  {
    return answer(time_ns, psn, wire::Syndrome::ack());
  }
  void finish()
  {
    owned.sort();
    flows.end_ns = owned.trace.packets.back().time_ns;
  }

  OwnedTrace owned;
  TraceFlows flows;

private:
  RcScript& add(std::uint64_t time_ns, bool forward, wire::RoceHeaders headers, std::int64_t psn,
                std::size_t payload, bool lost)
  {
    headers.bth.psn = wire::psn_add(first_psn, psn);
    wire::PacketBuilder builder = forward ? there_ : back_;
    builder.identification(++identification_);
    const wire::Frame frame = builder.roce(headers, wire::Frame(payload));
    const std::uint16_t from = forward ? 0 : 1;
    owned.add(time_ns, from, TracePoint::entered, frame, lost ? 1 : 0,
              lost ? FaultAction::drop : FaultAction::none);
    if (!lost)
      owned.add(time_ns + delay_ns, static_cast<std::uint16_t>(1 - from), TracePoint::arrived,
                frame);
    return *this;
  }

  wire::PacketBuilder there_;
  wire::PacketBuilder back_;
  std::uint16_t identification_ = 0;
};

/// A TCP stream written by hand: client sends segments, server acknowledges.
class TcpScript {
public:
  static constexpr std::uint32_t isn = 0xfffff000; ///< so that it wraps
  static constexpr std::uint32_t segment = 1000;   ///< bytes
  static constexpr std::uint64_t delay_ns = 10'000;

  TcpScript()
  {
    owned.trace.hosts = {"client", "server"};
    owned.trace.rules = {"drop-segment"};
    back_.addresses(*wire::parse_ip("10.0.0.2"), *wire::parse_ip("10.0.0.1"));
    flows.tcp.push_back({"tcp", 0, "client", "server", 40000, 5201});
    packet(0, true, frame(true, isn, 0, wire::tcp_syn, {}, 0), false);
    packet(delay_ns, false, frame(false, 0, isn + 1, wire::tcp_syn | wire::tcp_ack, {}, 0), false);
  }

  /// The n-th segment of 1000 bytes, from 0.
  void data(std::uint64_t time_ns, std::uint32_t n, bool lost = false)
  {
    packet(time_ns, true, frame(true, isn + 1 + n * segment, 1, wire::tcp_ack, {}, segment), lost);
  }
  /// Acknowledges all segments before n; SACK of segments [left, right) if right isn't 0.
  void ack(std::uint64_t time_ns, std::uint32_t n, std::uint32_t left = 0, std::uint32_t right = 0,
           bool lost = false)
  {
    std::vector<std::uint32_t> options;
    if (right != 0) options = {0x0101050a, isn + 1 + left * segment, isn + 1 + right * segment};
    packet(time_ns, false, frame(false, 1, isn + 1 + n * segment, wire::tcp_ack, options, 0), lost);
  }
  void finish(std::uint64_t end_ns)
  {
    owned.sort();
    flows.end_ns = end_ns;
  }

  OwnedTrace owned;
  TraceFlows flows;

private:
  wire::Frame frame(bool forward, std::uint32_t sequence, std::uint32_t acknowledgement,
                    std::uint8_t flags, const std::vector<std::uint32_t>& options,
                    std::size_t payload)
  {
    wire::TcpHeader header;
    header.source_port = forward ? 40000 : 5201;
    header.destination_port = forward ? 5201 : 40000;
    header.sequence = sequence;
    header.acknowledgement = acknowledgement;
    header.flags = flags;
    wire::Frame rest(options.size() * 4 + payload);
    wire::Writer writer(rest);
    for (const std::uint32_t word : options) writer.u32(word);
    wire::PacketBuilder builder = forward ? there_ : back_;
    builder.identification(++identification_);
    wire::Frame result = builder.tcp(header, rest);
    // Data offset, in words: what the builder took for payload are options.
    result[14 + 20 + 12] = static_cast<std::byte>((5 + options.size()) << 4U);
    return result;
  }
  void packet(std::uint64_t time_ns, bool forward, const wire::Frame& frame, bool lost)
  {
    const std::uint16_t from = forward ? 0 : 1;
    owned.add(time_ns, from, TracePoint::entered, frame, lost ? 1 : 0,
              lost ? FaultAction::drop : FaultAction::none);
    if (!lost)
      owned.add(time_ns + delay_ns, static_cast<std::uint16_t>(1 - from), TracePoint::arrived,
                frame);
  }

  wire::PacketBuilder there_;
  wire::PacketBuilder back_;
  std::uint16_t identification_ = 0;
};

} // namespace rdmalab::analysis::test
