#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <infiniband/verbs.h>

/// The verbs library's objects as move-only owners. An object must die before what it was made
/// from: declare Context, Pd, CompletionChannel, Cq, Pages, Mr, Srq, Qp, AddressHandle in this
/// order and the members' reverse destruction does it.
namespace rdmalab::traffic {

/// Calls the library's destroy function; its result has no remedy here.
template <auto Destroy> struct Destroyer {
  template <typename T> void operator()(T* object) const { static_cast<void>(Destroy(object)); }
};

using Context = std::unique_ptr<ibv_context, Destroyer<ibv_close_device>>;
using Pd = std::unique_ptr<ibv_pd, Destroyer<ibv_dealloc_pd>>;
using CompletionChannel = std::unique_ptr<ibv_comp_channel, Destroyer<ibv_destroy_comp_channel>>;
using Cq = std::unique_ptr<ibv_cq, Destroyer<ibv_destroy_cq>>;
using Mr = std::unique_ptr<ibv_mr, Destroyer<ibv_dereg_mr>>;
using Srq = std::unique_ptr<ibv_srq, Destroyer<ibv_destroy_srq>>;
using AddressHandle = std::unique_ptr<ibv_ah, Destroyer<ibv_destroy_ah>>;
using Qp = std::unique_ptr<ibv_qp, Destroyer<ibv_destroy_qp>>;

struct PageUnmapper {
  std::size_t bytes = 0;
  void operator()(std::byte* memory) const;
};

/// Page-aligned, zeroed memory.
class Pages {
public:
  Pages() = default;
  static Result<Pages> allocate(std::size_t bytes);

  [[nodiscard]] std::byte* data() const { return memory_.get(); }
  [[nodiscard]] std::size_t size() const { return memory_.get_deleter().bytes; }

private:
  std::unique_ptr<std::byte, PageUnmapper> memory_;
};

/// Opens an RDMA device by its name. Exit::environment when it isn't there.
Result<Context> open_device(const std::string& name);

/// The table index of the GID that stands for an IPv4 address in RoCEv2 (type, not position: rxe's
/// entries move with the netdev's addresses). The table follows the addresses with a delay, so it
/// is looked at until deadline_ns.
Result<std::uint8_t> find_rocev2_gid(ibv_context* context, std::uint8_t port, const std::string& ip,
                                     std::uint64_t deadline_ns);

/// The IPv4-mapped GID ::ffff:a.b.c.d (RFC 4291 section 2.5.5.2).
Result<ibv_gid> mapped_gid(const std::string& ip);

/// Bytes of an MTU code, and the code of a power of two from 256 to 4096.
std::uint32_t mtu_bytes(ibv_mtu mtu);
Result<ibv_mtu> mtu_code(std::uint32_t bytes);

/// "IBV_WC_RETRY_EXC_ERR"
std::string status_name(ibv_wc_status status);

} // namespace rdmalab::traffic
