#pragma once

#include "base/result.h"
#include "fault.h"
#include "wire/address.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace rdmalab::fault {

/// A table in which an address is found by one multiplication: slot = key * factor >> 24.
struct AddressTable {
  std::uint32_t factor = 1;
  std::array<fault_address, FAULT_ADDRESSES> slots{};
};

/// What the programs look an address up by: its bytes as the machine reads them, those of IPv6
/// folded.
std::uint32_t address_key(const wire::IpAddress& address);

/// `hosts`: the addresses of each. EINVAL for one that two hosts have (or two IPv6 addresses whose
/// words XOR to the same), E2BIG for more than fit.
Result<AddressTable> make_address_table(std::span<const std::vector<wire::IpAddress>> hosts);

} // namespace rdmalab::fault
