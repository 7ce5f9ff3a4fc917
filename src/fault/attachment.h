#pragma once

#include "base/fd.h"
#include "base/result.h"

#include <cstdint>
#include <memory>
#include <string>

namespace rdmalab::fault {

enum class Hook : std::uint8_t { ingress, egress };
enum class Way : std::uint8_t {
  best,   ///< tcx, else clsact
  clsact, ///< so that the second way can be tested on a kernel that has the first
};

/// A program at a device: a tcx link, or on a kernel without tcx (before 6.6) a filter of clsact.
/// Taken away when it dies. Move-only.
class Attachment {
public:
  /// `netns`: descriptor of the device's namespace, used again to detach.
  static Result<Attachment> attach(int program, std::shared_ptr<Fd> netns, std::uint32_t ifindex,
                                   Hook hook, Way way, const std::string& what);
  Attachment(Attachment&& other) noexcept = default;
  Attachment& operator=(Attachment&& other) noexcept;
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;
  ~Attachment() { detach(); }

  [[nodiscard]] bool by_tcx() const { return link_.valid(); }

private:
  Attachment() = default;
  void detach();
  Fd link_;
  std::shared_ptr<Fd> netns_; ///< set for a filter
  std::uint32_t ifindex_ = 0;
  Hook hook_ = Hook::ingress;
  std::uint32_t handle_ = 0;
};

} // namespace rdmalab::fault
