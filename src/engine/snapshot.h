#pragma once

#include "base/result.h"
#include "engine/guest.h"
#include "engine/image.h"
#include "engine/kernel.h"

#include <functional>
#include <string>
#include <vector>

namespace rdmalab::engine {

/// Everything that a guest starts from, kept in the cache folder under a key that changes when the
/// kernel, QEMU or rdmalab does.
struct GuestImage {
  GuestFiles files;
  std::string kernel_release;
  std::string qemu;
  std::filesystem::path snapshot; ///< state of the booted guest; empty: none (plain boot)
  std::string snapshot_digest;
};

/// Finds or makes image and snapshot (under a lock, so that two runs make one). `with_snapshot`
/// false: only the image. `say` is told when something that takes seconds begins.
Result<GuestImage> guest_image(bool with_snapshot, const ImageExtras& extras,
                               const std::function<void(const std::string&)>& say);

} // namespace rdmalab::engine
