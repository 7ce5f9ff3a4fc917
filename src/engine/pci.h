#pragma once

#include "base/fd.h"
#include "base/result.h"

#include <cstdint>

namespace rdmalab::engine {

/// Enables the first PCI device with these numbers (as sysfs gives them) and opens one of its BARs
/// for mmap. Guest side; Errors: exit guest when there is no such device.
Result<Fd> open_pci_bar(std::uint16_t vendor, std::uint16_t device, int bar);

} // namespace rdmalab::engine
