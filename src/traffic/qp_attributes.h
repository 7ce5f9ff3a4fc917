#pragma once

#include "lab/lab.h"

#include <cstdint>

#include <infiniband/verbs.h>

namespace rdmalab::traffic {

/// Arguments of one ibv_modify_qp(3).
struct QpTransition {
  ibv_qp_attr attr{};
  int mask = 0;
};

/// UD's key for both ends: any value below 2^31 will do (IB specification 10.2.5).
inline constexpr std::uint32_t datagram_key = 0x1d3a;

/// What a QP needs on its way to RTS, each transition with its mask for the QP's transport (IB
/// specification table "QP State Transition Properties").
class QpAttributes {
public:
  QpAttributes(const lab::Verbs& verbs, std::uint8_t port, std::uint8_t gid_index)
      : verbs_(verbs), port_(port), gid_index_(gid_index)
  {}
  QpAttributes& path_mtu(ibv_mtu mtu) { return path_mtu_ = mtu, *this; }
  /// READs and atomics that may be outstanding, as initiator and as target.
  QpAttributes& outstanding_reads(std::uint8_t initiator, std::uint8_t target)
  {
    return reads_out_ = initiator, reads_in_ = target, *this;
  }
  /// Access that the peer gets, IBV_ACCESS_*.
  QpAttributes& access(unsigned flags) { return access_ = flags, *this; }
  QpAttributes& local_psn(std::uint32_t psn) { return local_psn_ = psn, *this; }
  QpAttributes& peer(const ibv_gid& gid, std::uint32_t qp_number, std::uint32_t psn)
  {
    return peer_gid_ = gid, peer_qp_ = qp_number, peer_psn_ = psn, *this;
  }

  /// The way to the peer; of UD for an address handle.
  [[nodiscard]] ibv_ah_attr path() const
  {
    ibv_ah_attr attr{};
    attr.is_global = 1;
    attr.port_num = port_;
    attr.grh.dgid = peer_gid_;
    attr.grh.sgid_index = gid_index_;
    attr.grh.hop_limit = 64;
    return attr;
  }

  [[nodiscard]] QpTransition to_init() const
  {
    QpTransition t;
    t.attr.qp_state = IBV_QPS_INIT;
    t.attr.pkey_index = 0;
    t.attr.port_num = port_;
    t.attr.qp_access_flags = access_;
    t.attr.qkey = datagram_key;
    // iWARP has neither partitions nor ports to choose (Linux, iwcm.c: iwcm_init_qp_init_attr).
    if (iwarp())
      t.mask = IBV_QP_STATE | IBV_QP_ACCESS_FLAGS;
    else
      t.mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
               (connected() ? IBV_QP_ACCESS_FLAGS : IBV_QP_QKEY);
    return t;
  }

  [[nodiscard]] QpTransition to_rtr() const
  {
    QpTransition t;
    t.attr.qp_state = IBV_QPS_RTR;
    t.attr.path_mtu = path_mtu_;
    t.attr.dest_qp_num = peer_qp_;
    t.attr.rq_psn = peer_psn_;
    t.attr.max_dest_rd_atomic = reads_in_;
    t.attr.min_rnr_timer = static_cast<std::uint8_t>(verbs_.min_rnr_timer);
    t.attr.ah_attr = path();
    t.mask = IBV_QP_STATE;
    if (connected()) t.mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    if (reliable()) t.mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    return t;
  }

  [[nodiscard]] QpTransition to_rts() const
  {
    QpTransition t;
    t.attr.qp_state = IBV_QPS_RTS;
    t.attr.sq_psn = local_psn_;
    t.attr.timeout = static_cast<std::uint8_t>(verbs_.timeout);
    t.attr.retry_cnt = static_cast<std::uint8_t>(verbs_.retry_count);
    t.attr.rnr_retry = static_cast<std::uint8_t>(verbs_.rnr_retry);
    t.attr.max_rd_atomic = reads_out_;
    t.mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
    if (reliable())
      t.mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    return t;
  }

private:
  [[nodiscard]] bool reliable() const { return lab::reliable(verbs_); }
  [[nodiscard]] bool iwarp() const { return verbs_.transport == lab::Transport::iwarp; }
  [[nodiscard]] bool connected() const { return verbs_.transport != lab::Transport::ud; }

  lab::Verbs verbs_;
  std::uint8_t port_;
  std::uint8_t gid_index_;
  ibv_mtu path_mtu_ = IBV_MTU_1024;
  std::uint8_t reads_out_ = 1;
  std::uint8_t reads_in_ = 1;
  unsigned access_ = 0;
  std::uint32_t local_psn_ = 0;
  ibv_gid peer_gid_{};
  std::uint32_t peer_qp_ = 0;
  std::uint32_t peer_psn_ = 0;
};

} // namespace rdmalab::traffic
