#include "traffic/verbs_objects.h"

#include "base/clock.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include <arpa/inet.h>
#include <sys/mman.h>

namespace rdmalab::traffic {

namespace {

constexpr std::uint64_t gid_interval_ns = 10'000'000;

/// The index, or -1 if no entry fits.
Result<int> look_up_gid(ibv_context* context, std::uint8_t port, const ibv_gid& wanted,
                        std::size_t entries)
{
  std::vector<ibv_gid_entry> table(entries);
  const ssize_t n = ibv_query_gid_table(context, table.data(), table.size(), 0);
  if (n < 0) return system_error(static_cast<int>(-n), "read the GID table", Exit::environment);
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    const ibv_gid_entry& entry = table[i];
    if (entry.port_num == port && entry.gid_type == IBV_GID_TYPE_ROCE_V2 &&
        std::memcmp(entry.gid.raw, wanted.raw, sizeof wanted.raw) == 0)
      return static_cast<int>(entry.gid_index);
  }
  return -1;
}

} // namespace

void PageUnmapper::operator()(std::byte* memory) const
{
  ::munmap(memory, bytes);
}

Result<Pages> Pages::allocate(std::size_t bytes)
{
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return system_error("allocate " + std::to_string(bytes) + " bytes for messages",
                        Exit::environment, "use smaller messages, fewer QPs or less depth");
  Pages pages;
  pages.memory_ = {static_cast<std::byte*>(memory), PageUnmapper{bytes}};
  return pages;
}

Result<Context> open_device(const std::string& name)
{
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  if (list == nullptr)
    return system_error("list RDMA devices", Exit::environment, "load ib_uverbs and rdma_rxe");
  const std::unique_ptr<ibv_device*, Destroyer<ibv_free_device_list>> owner(list);
  for (int i = 0; i < count; ++i) {
    if (name != ibv_get_device_name(list[i])) continue;
    Context context(ibv_open_device(list[i]));
    if (!context)
      return system_error("open RDMA device " + name, Exit::environment,
                          "does /dev/infiniband/uverbs* exist?");
    return context;
  }
  return system_error(
      ENODEV, "open RDMA device " + name, Exit::environment,
      "is rdma_rxe loaded, its link made, and librxe (ibverbs-providers) installed?");
}

Result<ibv_gid> mapped_gid(const std::string& ip)
{
  ibv_gid gid{};
  gid.raw[10] = gid.raw[11] = 0xff;
  if (::inet_pton(AF_INET, ip.c_str(), &gid.raw[12]) != 1)
    return Error{Exit::setup, "read IPv4 address '" + ip + "'", 0, {}, {}};
  return gid;
}

Result<std::uint8_t> find_rocev2_gid(ibv_context* context, std::uint8_t port, const std::string& ip,
                                     std::uint64_t deadline_ns)
{
  TRY_ASSIGN(const ibv_gid wanted, mapped_gid(ip));
  ibv_port_attr attr{};
  if (const int number = ibv_query_port(context, port, &attr); number != 0)
    return system_error(number, "query the RDMA port", Exit::environment);
  while (true) {
    TRY_ASSIGN(const int index,
               look_up_gid(context, port, wanted, static_cast<std::size_t>(attr.gid_tbl_len)));
    if (index >= 0) return static_cast<std::uint8_t>(index);
    const std::uint64_t next = monotonic_ns() + gid_interval_ns;
    if (next >= deadline_ns)
      return Error{Exit::setup,
                   "find the RoCEv2 GID of " + ip,
                   0,
                   "the device's netdev must be up and carry this address",
                   {}};
    sleep_until_ns(next);
  }
}

std::uint32_t mtu_bytes(ibv_mtu mtu)
{
  return 128U << static_cast<unsigned>(mtu);
}

Result<ibv_mtu> mtu_code(std::uint32_t bytes)
{
  for (const ibv_mtu mtu : {IBV_MTU_256, IBV_MTU_512, IBV_MTU_1024, IBV_MTU_2048, IBV_MTU_4096})
    if (mtu_bytes(mtu) == bytes) return mtu;
  return usage_error("use path MTU " + std::to_string(bytes),
                     "it is 256, 512, 1024, 2048 or 4096 bytes");
}

std::string status_name(ibv_wc_status status)
{
  // In the order of enum ibv_wc_status.
  static constexpr std::array<const char*, 23> names{"SUCCESS",
                                                     "LOC_LEN_ERR",
                                                     "LOC_QP_OP_ERR",
                                                     "LOC_EEC_OP_ERR",
                                                     "LOC_PROT_ERR",
                                                     "WR_FLUSH_ERR",
                                                     "MW_BIND_ERR",
                                                     "BAD_RESP_ERR",
                                                     "LOC_ACCESS_ERR",
                                                     "REM_INV_REQ_ERR",
                                                     "REM_ACCESS_ERR",
                                                     "REM_OP_ERR",
                                                     "RETRY_EXC_ERR",
                                                     "RNR_RETRY_EXC_ERR",
                                                     "LOC_RDD_VIOL_ERR",
                                                     "REM_INV_RD_REQ_ERR",
                                                     "REM_ABORT_ERR",
                                                     "INV_EECN_ERR",
                                                     "INV_EEC_STATE_ERR",
                                                     "FATAL_ERR",
                                                     "RESP_TIMEOUT_ERR",
                                                     "GENERAL_ERR",
                                                     "TM_ERR"};
  static_assert(IBV_WC_RETRY_EXC_ERR == 12 && IBV_WC_TM_ERR == 22);
  const auto at = static_cast<std::size_t>(status);
  return at < names.size() ? std::string("IBV_WC_") + names[at] : "status " + std::to_string(at);
}

} // namespace rdmalab::traffic
