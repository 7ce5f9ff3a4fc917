#include "fault/attachment.h"

#include "ebpf/log.h"
#include "net/netns.h"

#include <cerrno>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

namespace rdmalab::fault {

namespace {

/// BPF_TCX_INGRESS and BPF_TCX_EGRESS (linux/bpf.h of Linux 6.6; Debian 12's is older).
bpf_attach_type tcx_of(Hook hook)
{
  return static_cast<bpf_attach_type>(hook == Hook::ingress ? 46 : 47);
}

bpf_tc_hook filter_hook(std::uint32_t ifindex, Hook hook)
{
  bpf_tc_hook result{};
  result.sz = sizeof(result);
  result.ifindex = static_cast<int>(ifindex);
  result.attach_point = hook == Hook::ingress ? BPF_TC_INGRESS : BPF_TC_EGRESS;
  return result;
}

/// The first priority: a redirection to an ifb has a later one (net/qdisc.h).
constexpr std::uint32_t filter_priority = 1;

bpf_tc_opts filter_options()
{
  bpf_tc_opts result{};
  result.sz = sizeof(result);
  result.priority = filter_priority;
  return result;
}

} // namespace

Result<Attachment> Attachment::attach(int program, std::shared_ptr<Fd> netns, std::uint32_t ifindex,
                                      Hook hook, Way way, const std::string& what)
{
  TRY_ASSIGN(const auto inside, net::EnteredNamespace::enter(netns->get()));
  Attachment made;
  made.ifindex_ = ifindex;
  made.hook_ = hook;
  int refused = 0;
  if (way == Way::best) {
    const int link = bpf_link_create(program, static_cast<int>(ifindex), tcx_of(hook), nullptr);
    if (link >= 0) {
      made.link_ = Fd(link);
      return made;
    }
    // An unknown attach type is EINVAL; whatever else it may be, clsact will say so, too.
    refused = -link;
  }
  ebpf::BpfLog log;
  bpf_tc_hook at = filter_hook(ifindex, hook);
  if (const int failed = bpf_tc_hook_create(&at); failed != 0 && failed != -EEXIST)
    return system_error(-failed, fmt::format("attach {} (tcx: error {})", what, refused),
                        Exit::setup, log.tail());
  bpf_tc_opts options = filter_options();
  options.prog_fd = program;
  if (const int failed = bpf_tc_attach(&at, &options))
    return system_error(-failed, fmt::format("attach {} (tcx: error {})", what, refused),
                        Exit::setup, log.tail());
  made.netns_ = std::move(netns);
  made.handle_ = options.handle;
  return made;
}

Attachment& Attachment::operator=(Attachment&& other) noexcept
{
  if (this != &other) {
    detach();
    link_ = std::move(other.link_);
    netns_ = std::move(other.netns_);
    ifindex_ = other.ifindex_;
    hook_ = other.hook_;
    handle_ = other.handle_;
  }
  return *this;
}

void Attachment::detach()
{
  link_.reset();
  if (!netns_) return;
  const auto netns = std::move(netns_);
  const auto inside = net::EnteredNamespace::enter(netns->get());
  if (!inside) {
    spdlog::warn("{}", inside.error().message());
    return;
  }
  const ebpf::BpfLog quiet; // the device may be gone already
  bpf_tc_hook at = filter_hook(ifindex_, hook_);
  bpf_tc_opts options = filter_options();
  options.handle = handle_;
  bpf_tc_detach(&at, &options);
}

} // namespace rdmalab::fault
