#pragma once

#include "traffic/connection_manager.h"
#include "traffic/endpoint.h"
#include "traffic/json_socket.h"
#include "traffic/qp_attributes.h"
#include "traffic/slots.h"
#include "traffic/verbs_objects.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rdmalab::traffic {

struct Introduction;

/// What happened while waiting for completions.
struct Completions {
  std::span<const ibv_wc> list;
  bool peer_spoke = false; ///< the out-of-band connection has something to read
};

/// An endpoint's device, memory and QPs.
class VerbsLink {
public:
  /// Everything that needs no peer: device, memory region, completion queue, QPs in RESET.
  static Result<VerbsLink> prepare(const EndpointSpec& spec, std::uint64_t deadline_ns);
  /// Opens the out-of-band connection to the peer.
  Status meet(const EndpointSpec& spec, std::uint64_t deadline_ns);
  /// Tells the peer and connects the QPs: RTS at both ends, receives posted at a target that needs
  /// them.
  Status join(const EndpointSpec& spec, std::uint64_t deadline_ns);

  /// Completions, at most 32; none when deadline_ns passes or the peer speaks. Sleeps on the
  /// completion channel and never spins: rxe's work runs on the same CPU. `listen`: whether the
  /// peer's words end the wait.
  Result<Completions> wait(std::uint64_t deadline_ns, bool listen);
  /// Completions that are there now.
  Result<Completions> poll();

  [[nodiscard]] std::byte* slot(std::uint64_t qp, std::uint64_t index) const
  {
    return pages_.data() + memory_.messages.offset(qp, index);
  }
  [[nodiscard]] std::byte* notice(std::uint64_t qp, std::uint64_t index) const
  {
    return pages_.data() + memory_.notices.offset(qp, index);
  }
  /// `bytes` from `at`, which is in a slot or a notice, as work requests name it.
  [[nodiscard]] ibv_sge sge(const std::byte* at, std::uint32_t bytes) const
  {
    return {reinterpret_cast<std::uintptr_t>(at), bytes, local_key_};
  }
  /// Of an initiator whose messages are confirmed by READs.
  [[nodiscard]] ibv_sge confirmation() const
  {
    return sge(pages_.data() + memory_.confirmation, sizeof(std::uint64_t));
  }
  [[nodiscard]] std::uint64_t remote_address(std::uint64_t qp, std::uint64_t index) const
  {
    return remote_base_ + remote_.offset(qp, index);
  }
  [[nodiscard]] std::uint32_t remote_key() const { return remote_key_; }
  /// Of UD: where a QP's datagrams go.
  [[nodiscard]] ibv_ah* address_handle() const { return address_.get(); }
  [[nodiscard]] std::uint32_t remote_qp(std::uint64_t qp) const { return remote_qps_[qp]; }

  [[nodiscard]] const SlotLayout& slots() const { return memory_.messages; }
  [[nodiscard]] const SlotLayout& remote_slots() const { return remote_; }
  [[nodiscard]] std::uint32_t path_mtu() const { return path_mtu_; }
  [[nodiscard]] ibv_qp* qp(std::uint64_t index) const { return qps_[index].get(); }
  [[nodiscard]] ibv_pd* pd() const { return pd_.get(); }
  [[nodiscard]] JsonSocket& oob() { return oob_; }

  [[nodiscard]] const std::vector<StreamId>& streams() const { return streams_; }
  /// How long the steps of setting up took, ns: "register", "qp", "exchange", "rts" or "cm".
  [[nodiscard]] const std::map<std::string, std::uint64_t>& setup_ns() const { return setup_ns_; }

  /// Moves all QPs to ERROR.
  Status break_off();
  /// Takes the memory region back; the memory itself stays.
  void deregister() { mr_.reset(); }
  /// "client 0" to "RTS": the state of each QP, as ibv_query_qp(3) tells it.
  [[nodiscard]] std::map<std::string, std::string> states(const std::string& host) const;

  /// Posts a receive to a queue (a QP's, or with an SRQ number 0); its wr_id is work_id(queue,
  /// index).
  Status post_receive(std::uint64_t queue, std::uint64_t index);

  static std::uint64_t work_id(std::uint64_t qp, std::uint64_t index) { return qp << 32 | index; }
  static std::uint64_t qp_of(std::uint64_t work_id) { return work_id >> 32; }
  static std::uint64_t slot_of(std::uint64_t work_id) { return work_id & 0xffff'ffffU; }

private:
  VerbsLink() = default;
  Status open(const EndpointSpec& spec, std::uint64_t deadline_ns);
  Status check_limits(const EndpointSpec& spec, const ibv_port_attr& port) const;
  Status make_memory(const EndpointSpec& spec);
  Status make_queues(const EndpointSpec& spec);
  Status connect(const EndpointSpec& spec, const Introduction& theirs, std::uint64_t deadline_ns);
  Status connect_iwarp(const EndpointSpec& spec, std::uint64_t deadline_ns);
  Status to_init(const EndpointSpec& spec, std::size_t qp, const QpAttributes& attributes);
  Status bring_up(const EndpointSpec& spec, std::size_t qp, const QpAttributes& attributes);
  Status take_event();

  Context context_;
  Pd pd_;
  CompletionChannel channel_;
  Cq cq_;
  Pages pages_;
  Mr mr_;
  Srq srq_;
  std::vector<Qp> qps_;
  AddressHandle address_;
  std::vector<StreamId> streams_;
  JsonSocket oob_;
  std::optional<ConnectionManager> cm_;
  ibv_device_attr device_{};
  std::uint8_t gid_index_ = 0;
  std::uint32_t active_mtu_ = 0;
  std::uint32_t path_mtu_ = 0;
  std::uint32_t local_key_ = 0;
  Memory memory_;
  /// Where a receive's place begins, before its slot's message, and how long it is; 0: nothing of
  /// a message lands there.
  std::uint32_t receive_head_ = 0;
  std::uint32_t receive_bytes_ = 0;
  bool receive_notices_ = false; ///< receives are for notices
  SlotLayout remote_;
  std::uint64_t remote_base_ = 0;
  std::uint32_t remote_key_ = 0;
  std::vector<std::uint32_t> remote_qps_;
  std::map<std::string, std::uint64_t> setup_ns_;
  bool armed_ = false; ///< the next completion makes an event
  std::vector<ibv_wc> completions_ = std::vector<ibv_wc>(32);
};

} // namespace rdmalab::traffic
