/// Synthetic traces: a tiny requester and responder on a virtual clock.
#pragma once

#include "analysis/trace_flows.h"
#include "wire/builder.h"
#include "wire/trace.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rdmalab::analysis::test {

using wire::FaultAction;
using wire::PacketClass;
using wire::TracePoint;

/// A trace that owns its bytes.
struct OwnedTrace {
  wire::Trace trace;
  std::deque<wire::Frame> frames; ///< don't move when it grows

  void add(std::uint64_t time_ns, std::uint16_t host, TracePoint point, const wire::Frame& frame,
           std::uint16_t rule = 0, FaultAction action = FaultAction::none)
  {
    const auto length = static_cast<std::uint32_t>(frame.size());
    frames.push_back(frame);
    frames.back().resize(std::min<std::size_t>(frame.size(), 128));
    trace.packets.push_back({time_ns, host, point, action, rule, length, frames.back()});
  }
  void sort() { std::ranges::stable_sort(trace.packets, {}, &wire::TracedPacket::time_ns); }
};

/// Hits one transmission of one PSN of a class.
struct FaultRule {
  std::string name;
  PacketClass packet_class = PacketClass::data;
  std::int64_t psn = 0;
  std::uint32_t transmission = 1;
  FaultAction action = FaultAction::drop;
};

struct RcSetup {
  std::uint32_t qp = 0;
  std::uint32_t first_psn = 1000;
  std::int64_t packets = 100; ///< of WRITE, or results of READ
  std::int64_t message = 20;  ///< packets
  std::int64_t window = 128;
  std::uint64_t begin_ns = 0;
  std::uint64_t gap_ns = 8'000; ///< between packets of a sender
  std::uint64_t delay_ns = 10'000;
  std::uint64_t reaction_ns = 3'000;
  std::uint64_t timeout_ns = 2'000'000;
  bool read = false;
  std::vector<FaultRule> faults;
};

/// One QP that writes (or reads) until all is acknowledged.
class RcSimulation {
public:
  static constexpr std::uint32_t mtu = 1024;

  RcSimulation(OwnedTrace& trace, RcSetup setup) : trace_(trace), setup_(std::move(setup))
  {
    if (trace_.trace.hosts.empty()) trace_.trace.hosts = {"client", "server"};
    back_.addresses(*wire::parse_ip("10.0.0.2"), *wire::parse_ip("10.0.0.1"));
    at(setup_.begin_ns, [this] { send_next(); });
  }

  VerbsFlow run()
  {
    const std::uint64_t most = 1'000 * static_cast<std::uint64_t>(setup_.packets); // no livelock
    for (std::uint64_t events = 0; !events_.empty() && events < most; ++events) {
      const auto first = events_.begin();
      now_ = first->first;
      const auto act = std::move(first->second);
      events_.erase(first);
      act();
    }
    trace_.sort();
    return {"roce",          setup_.qp,        "client", "server", 17 + setup_.qp,
            117 + setup_.qp, setup_.first_psn, 77,       mtu,      setup_.timeout_ns};
  }
  [[nodiscard]] bool done() const { return acknowledged_ == setup_.packets; }

private:
  void at(std::uint64_t time_ns, std::function<void()> act)
  {
    events_.emplace(time_ns, std::move(act));
  }

  /// Puts a packet on the wire; `arrive` is called if its receiver reads it.
  void transmit(bool forward, std::string_view opcode, std::int64_t psn, std::size_t payload,
                std::optional<wire::Syndrome> syndrome, std::uint32_t read_length,
                std::function<void()> arrive)
  {
    wire::RoceHeaders headers = wire::headers_of(*wire::find_opcode(opcode));
    headers.bth.psn = wire::psn_add(setup_.first_psn, psn);
    headers.bth.destination_qp = forward ? 117 + setup_.qp : 17 + setup_.qp;
    if (syndrome) headers.aeth = wire::Aeth{syndrome->encode(), 0};
    if (headers.reth) headers.reth->length = read_length;
    const PacketClass kind =
        wire::classify(wire::find_opcode(opcode),
                       syndrome ? std::optional<std::uint8_t>(syndrome->encode()) : std::nullopt);
    const wire::PacketBuilder& builder = forward ? there_ : back_;
    wire::PacketBuilder packet = builder;
    packet.identification(++identification_);
    const wire::Frame frame = packet.roce(headers, wire::Frame(payload));
    const std::uint16_t from = forward ? 0 : 1;
    const auto to = static_cast<std::uint16_t>(1 - from);

    const std::uint32_t transmission = ++transmissions_[{kind, psn}];
    const FaultRule* fault = nullptr;
    for (const FaultRule& f : setup_.faults)
      if (f.packet_class == kind && f.psn == psn && f.transmission == transmission) fault = &f;
    const FaultAction action = fault ? fault->action : FaultAction::none;
    trace_.add(now_, from, TracePoint::entered, frame, fault ? rule(fault->name) : 0, action);
    if (action == FaultAction::drop) return;
    std::uint64_t when = now_ + setup_.delay_ns;
    if (action == FaultAction::reorder) when += 3 * setup_.gap_ns + setup_.gap_ns / 2;
    if (action == FaultAction::delay) when += 2 * setup_.timeout_ns;
    const int copies = action == FaultAction::duplicate ? 2 : 1;
    for (int i = 0; i < copies; ++i)
      at(when, [this, to, frame, action, arrive] {
        trace_.add(now_, to, TracePoint::arrived, frame);
        if (action != FaultAction::corrupt) arrive();
      });
  }

  std::uint16_t rule(const std::string& name)
  {
    if (name.empty()) return 0; // netem's doing
    auto& rules = trace_.trace.rules;
    auto known = std::ranges::find(rules, name);
    if (known == rules.end()) known = rules.insert(rules.end(), name);
    return static_cast<std::uint16_t>(known - rules.begin() + 1);
  }

  // ---- requester

  void send_next()
  {
    sending_ = false;
    const bool window = cursor_ - acknowledged_ < setup_.window;
    if (cursor_ >= setup_.packets || !window) return;
    if (setup_.read)
      send_read();
    else
      send_write();
    arm();
    go_on(now_ + setup_.gap_ns);
  }
  void go_on(std::uint64_t when)
  {
    if (std::exchange(sending_, true)) return;
    at(when, [this] { send_next(); });
  }
  void send_write()
  {
    const std::int64_t psn = cursor_++;
    const std::int64_t place = psn % setup_.message;
    std::string_view opcode = "RC_RDMA_WRITE_MIDDLE";
    if (place == 0) opcode = "RC_RDMA_WRITE_FIRST";
    if (place == setup_.message - 1 || psn == setup_.packets - 1) opcode = "RC_RDMA_WRITE_LAST";
    if (place == 0 && (setup_.message == 1 || psn == setup_.packets - 1))
      opcode = "RC_RDMA_WRITE_ONLY";
    const bool ask = place == setup_.message - 1 || psn == setup_.packets - 1;
    transmit(true, opcode, psn, mtu, {}, mtu, [this, psn, ask] { request(psn, ask); });
  }
  void send_read()
  {
    const std::int64_t psn = cursor_;
    const std::int64_t end = std::min((psn / setup_.message + 1) * setup_.message, setup_.packets);
    cursor_ = end;
    transmit(true, "RC_RDMA_READ_REQUEST", psn, 0, {}, static_cast<std::uint32_t>(end - psn) * mtu,
             [this, psn, end] { answer(psn, end); });
  }
  void go_back(std::int64_t psn)
  {
    if (!setup_.read) acknowledged_ = std::max(acknowledged_, psn); // results may be missing
    cursor_ = acknowledged_;
    go_on(now_ + setup_.reaction_ns);
  }
  void progress(std::int64_t up_to)
  {
    if (up_to <= acknowledged_) return;
    acknowledged_ = up_to;
    ++epoch_;
    arm();
    go_on(now_ + setup_.reaction_ns);
  }
  void arm()
  {
    if (acknowledged_ == setup_.packets) return;
    const std::uint64_t epoch = ++epoch_;
    at(now_ + setup_.timeout_ns, [this, epoch] {
      if (epoch != epoch_ || done()) return;
      cursor_ = acknowledged_;
      go_on(now_);
    });
  }

  // ---- responder

  void request(std::int64_t psn, bool ask)
  {
    if (psn > expected_) {
      if (!std::exchange(nak_sent_, true))
        reply(wire::Syndrome::nak(wire::NakCode::psn_sequence_error), expected_);
      return;
    }
    if (psn == expected_) {
      ++expected_;
      nak_sent_ = false;
    }
    if (ask) reply(wire::Syndrome::ack(), expected_ - 1);
  }
  void reply(wire::Syndrome syndrome, std::int64_t psn)
  {
    at(now_ + setup_.reaction_ns, [this, syndrome, psn] {
      transmit(false, "RC_ACKNOWLEDGE", psn, 0, syndrome, 0, [this, syndrome, psn] {
        if (syndrome.kind == wire::Syndrome::Kind::nak)
          go_back(psn);
        else
          progress(psn + 1);
      });
    });
  }
  /// Streams the results of READs one after the other; one that is asked for again takes the place
  /// of all that are under way, since the requester asks for those behind it again, too.
  void answer(std::int64_t psn, std::int64_t end)
  {
    if (psn > expected_) {
      if (!std::exchange(nak_sent_, true))
        reply(wire::Syndrome::nak(wire::NakCode::psn_sequence_error), expected_);
      return;
    }
    if (psn == expected_)
      nak_sent_ = false;
    else
      runs_.clear();
    expected_ = std::max(expected_, end);
    runs_.emplace_back(psn, end);
    if (runs_.size() > 1) return; // goes on by itself
    const std::uint64_t stream = ++stream_;
    at(now_ + setup_.reaction_ns, [this, stream] { send_result(stream); });
  }
  void send_result(std::uint64_t stream)
  {
    if (stream != stream_ || runs_.empty()) return;
    const std::int64_t psn = runs_.front().first++;
    if (runs_.front().first == runs_.front().second) runs_.pop_front();
    const std::int64_t place = psn % setup_.message;
    std::string_view opcode = "RC_RDMA_READ_RESPONSE_MIDDLE";
    if (place == 0) opcode = "RC_RDMA_READ_RESPONSE_FIRST";
    if (place == setup_.message - 1) opcode = "RC_RDMA_READ_RESPONSE_LAST";
    transmit(false, opcode, psn, mtu, {}, 0, [this, psn] { take_result(psn); });
    at(now_ + setup_.gap_ns, [this, stream] { send_result(stream); });
  }
  void take_result(std::int64_t psn)
  {
    if (psn > acknowledged_) {
      if (!std::exchange(implied_, true)) go_back(acknowledged_);
    } else if (psn == acknowledged_) {
      implied_ = false;
      progress(psn + 1);
    }
  }

  OwnedTrace& trace_;
  RcSetup setup_;
  wire::PacketBuilder there_;
  wire::PacketBuilder back_;
  std::multimap<std::uint64_t, std::function<void()>> events_;
  std::map<std::pair<PacketClass, std::int64_t>, std::uint32_t> transmissions_;
  std::uint64_t now_ = 0;
  std::uint16_t identification_ = 0;
  std::int64_t cursor_ = 0;
  std::int64_t acknowledged_ = 0;
  bool sending_ = true;
  bool implied_ = false;
  std::uint64_t epoch_ = 0;
  std::int64_t expected_ = 0;
  bool nak_sent_ = false;
  std::deque<std::pair<std::int64_t, std::int64_t>> runs_; ///< results to send
  std::uint64_t stream_ = 0;
};

/// A cell with one QP.
struct RcScene {
  OwnedTrace owned;
  TraceFlows flows;

  explicit RcScene(const RcSetup& setup)
  {
    flows.verbs.push_back(RcSimulation(owned, setup).run());
    flows.end_ns = owned.trace.packets.back().time_ns;
  }
};

} // namespace rdmalab::analysis::test
