#pragma once

#include "traffic/endpoint.h"

#include <cstdint>

#include <infiniband/verbs.h>

/// What each of the lab's mistakes (lab/mistake.h) changes at an end of a verbs traffic. Without a
/// mistake these are the right values.
namespace rdmalab::traffic {

inline bool makes(const EndpointSpec& spec, Role role, lab::Mistake mistake)
{
  return spec.role == role && spec.traffic.verbs.mistake == mistake;
}

inline constexpr int remote_access =
    IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

/// Of the memory region.
inline int access_of(const EndpointSpec& spec)
{
  const bool closed = makes(spec, Role::target, lab::Mistake::no_remote_access);
  return IBV_ACCESS_LOCAL_WRITE | (closed ? 0 : remote_access);
}

/// Of the QP.
inline unsigned qp_access_of(const EndpointSpec& spec)
{
  const bool closed = makes(spec, Role::target, lab::Mistake::qp_no_access);
  return static_cast<unsigned>(IBV_ACCESS_LOCAL_WRITE | (closed ? 0 : remote_access));
}

/// A key's low byte is the owner's to choose; the rest finds the region (IB specification 10.6.3.3,
/// and rxe_mr.c). So a key that differs in that byte belongs to nobody.
inline std::uint32_t wrong(std::uint32_t key)
{
  return key ^ 0x55U;
}

/// With which work is posted.
inline std::uint32_t local_key_of(const EndpointSpec& spec, std::uint32_t key)
{
  return makes(spec, Role::initiator, lab::Mistake::not_registered) ? wrong(key) : key;
}

inline std::uint32_t remote_key_of(const EndpointSpec& spec, std::uint32_t key)
{
  return makes(spec, Role::initiator, lab::Mistake::wrong_rkey) ? wrong(key) : key;
}

/// Address of the peer's slot 0, whose region has so many bytes.
inline std::uint64_t remote_base_of(const EndpointSpec& spec, std::uint64_t base,
                                    std::uint64_t region_bytes)
{
  return makes(spec, Role::initiator, lab::Mistake::out_of_bounds) ? base + region_bytes : base;
}

/// How far an address is from where it should be.
inline std::uint64_t misalignment_of(const EndpointSpec& spec)
{
  return makes(spec, Role::initiator, lab::Mistake::misaligned_atomic) ? 4 : 0;
}

/// That a receive has room for.
inline std::uint32_t receive_bytes_of(const EndpointSpec& spec, std::uint32_t message_bytes)
{
  return makes(spec, Role::target, lab::Mistake::long_send) ? message_bytes / 2 : message_bytes;
}

/// The state to which a QP is brought before traffic starts.
inline ibv_qp_state ready_state_of(const EndpointSpec& spec)
{
  if (spec.role == Role::target) return IBV_QPS_RTS;
  switch (spec.traffic.verbs.mistake) {
  case lab::Mistake::qp_reset:
    return IBV_QPS_RESET;
  case lab::Mistake::qp_init:
    return IBV_QPS_INIT;
  case lab::Mistake::qp_rtr:
    return IBV_QPS_RTR;
  default:
    return IBV_QPS_RTS;
  }
}

} // namespace rdmalab::traffic
