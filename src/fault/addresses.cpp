#include "fault/addresses.h"

#include "base/random.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::fault {

namespace {

/// Whether no two keys share a slot.
bool fill(AddressTable& table, std::span<const fault_address> keys)
{
  for (fault_address& slot : table.slots) slot = {0, FAULT_NO_HOST};
  return std::ranges::all_of(keys, [&table](const fault_address& key) {
    fault_address& slot = table.slots[(key.key * table.factor) >> 24U];
    if (slot.host != FAULT_NO_HOST) return false;
    slot = key;
    return true;
  });
}

} // namespace

std::uint32_t address_key(const wire::IpAddress& address)
{
  std::array<std::uint32_t, 4> words{};
  std::memcpy(words.data(), address.octets.data(), sizeof(words));
  return address.v6 ? words[0] ^ words[1] ^ words[2] ^ words[3] : words[0];
}

Result<AddressTable> make_address_table(std::span<const std::vector<wire::IpAddress>> hosts)
{
  std::vector<fault_address> keys;
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    for (const wire::IpAddress& address : hosts[host]) {
      const std::uint32_t key = address_key(address);
      if (std::ranges::find(keys, key, &fault_address::key) != keys.end())
        return system_error(EINVAL,
                            fmt::format("tell hosts apart by {}", wire::to_string(address)));
      keys.push_back({key, static_cast<std::uint32_t>(host)});
    }
  }
  AddressTable table;
  // Of 64 addresses in 256 slots one factor in 3000 will do, of 16 every second.
  for (std::uint64_t attempt = 1; attempt < 1'000'000; ++attempt) {
    table.factor = static_cast<std::uint32_t>(mix64(attempt)) | 1U;
    if (fill(table, keys)) return table;
  }
  return system_error(E2BIG, fmt::format("find room for {} addresses", keys.size()));
}

} // namespace rdmalab::fault
