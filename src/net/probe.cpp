#include "net/probe.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/json.h"
#include "net/link.h"
#include "net/netem_message.h"
#include "net/netns.h"
#include "net/qdisc.h"
#include "net/rdma.h"
#include "net/socket.h"
#include "net/sysctl.h"

#include <algorithm>
#include <cerrno>
#include <sstream>

#include <fcntl.h>
#include <linux/netlink.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rdmalab::net {

RDMALAB_JSON(Capability, name, required, ok, why, remedy)

namespace {

constexpr std::uint64_t patience_ns = 20'000'000'000;
constexpr std::uint64_t kill_patience_ns = 2'000'000'000;
constexpr const char* kernel_remedy =
    "use a kernel with this feature, or the vm engine, which brings its own";

const Capability questions[] = {
    {"network namespaces", true, false, {}, "run as root (CAP_SYS_ADMIN and CAP_NET_ADMIN)"},
    {"veth between namespaces", true, false, {}, "load the module veth"},
    {"bridge", true, false, {}, "load the module bridge"},
    {"netem", true, false, {}, "load the module sch_netem"},
    {"netem with seed", true, false, {}, "use a kernel from 6.6 on, or the vm engine"},
    {"netem's counts per impairment",
     false,
     false,
     {},
     "use a kernel from 7.2 on, or the vm engine"},
    {"ifb behind an ingress",
     false,
     false,
     {},
     "load ifb, sch_ingress, cls_matchall and act_mirred"},
    {"rxe", true, false, {}, "load the module rdma_rxe"},
    {"rxe inside a namespace", true, false, {}, "use a kernel from 7.1 on, or the vm engine"},
};

/// The scratch network; what is tried later needs what was tried before.
struct Scratch {
  std::optional<NetNamespace> fabric, host;
  std::optional<NlSocket> route, host_route, rdma;
  Link bridge, veth, ifb;
  bool netem = false;
  RdmaLink rxe;
};

Status missing(const char* what)
{
  return Error{Exit::environment, std::string("not tried: no ") + what, 0, {}, {}};
}

Status fail(const std::string& why)
{
  return Error{Exit::environment, why, 0, {}, {}};
}

Status try_namespaces(Scratch& scratch)
{
  TRY_ASSIGN(scratch.fabric, NetNamespace::anonymous());
  TRY_ASSIGN(scratch.host, NetNamespace::anonymous());
  TRY_ASSIGN(scratch.route, run_in(*scratch.fabric, [] { return NlSocket::open(NETLINK_ROUTE); }));
  TRY_ASSIGN(scratch.host_route,
             run_in(*scratch.host, [] { return NlSocket::open(NETLINK_ROUTE); }));
  return disable_ipv6(*scratch.host);
}

Status try_veth(Scratch& scratch)
{
  if (!scratch.host_route) return missing("network namespaces");
  const VethSpec spec{
      "p0", {2, 0xfe, 0, 0, 0, 1}, "eth0", {2, 0, 0, 0, 0, 1}, scratch.host->fd(), 1500, 0};
  TRY_ASSIGN(scratch.veth, Link::veth(*scratch.route, spec));
  TRY(set_up(*scratch.host_route, "eth0"));
  TRY_ASSIGN(const LinkState state, wait_running(*scratch.host_route, "eth0"));
  TRY(add_address(*scratch.host_route, state.index, "10.0.0.1", 24));
  return assert_noqueue(*scratch.host_route, "eth0");
}

Status try_bridge(Scratch& scratch)
{
  if (!scratch.route) return missing("network namespaces");
  TRY_ASSIGN(scratch.bridge, Link::bridge(*scratch.route, "br0", {2, 0xfd, 0, 0, 0, 0}, 1500));
  return {};
}

Netem sample()
{
  Netem netem;
  netem.delay_ns = 5'000'000'123; // beyond 32 bits
  netem.loss_ppm = 10'000;
  netem.rate_bps = 80'000'000'000; // beyond 32 bits of bytes a second
  netem.seed = 0x0123456789abcdef;
  return netem;
}

Status try_netem(Scratch& scratch)
{
  if (scratch.veth.index() == 0) return missing("veth");
  TRY(set_netem(*scratch.route, QdiscVerb::add, scratch.veth.index(), sample()));
  TRY_ASSIGN(QdiscState state, read_netem(*scratch.route, scratch.veth.index()));
  state.netem.seed = sample().seed; // is a capability of its own
  if (state.netem != effective(sample())) return fail("netem reads back other than it was set");
  scratch.netem = true;
  return {};
}

Status try_seed(Scratch& scratch)
{
  if (!scratch.netem) return missing("netem");
  TRY_ASSIGN(const QdiscState state, read_netem(*scratch.route, scratch.veth.index()));
  return state.netem.seed == sample().seed ? Status{} : fail("the kernel ignores netem's seed");
}

Status try_counts(Scratch& scratch)
{
  if (!scratch.netem) return missing("netem");
  TRY_ASSIGN(const QdiscState state, read_netem(*scratch.route, scratch.veth.index()));
  return state.counters.exact ? Status{} : fail("netem counts drops only, whatever their reason");
}

Status try_ifb(Scratch& scratch)
{
  if (scratch.veth.index() == 0) return missing("veth");
  TRY_ASSIGN(scratch.ifb, Link::ifb(*scratch.route, "ifb-p0", 1500));
  return redirect_ingress(*scratch.route, scratch.veth.index(), scratch.ifb.index());
}

Status try_rxe(Scratch& scratch)
{
  if (scratch.veth.index() == 0) return missing("veth");
  TRY_ASSIGN(scratch.rdma, run_in(*scratch.host, [] { return NlSocket::open(NETLINK_RDMA); }));
  TRY_ASSIGN(scratch.rxe,
             RdmaLink::create(*scratch.rdma, "rlp" + std::to_string(::getpid()), "rxe", "eth0"));
  return {};
}

/// Old kernels have one RoCE socket, in the first namespace: rxe then sends from any, but receives
/// there only.
Status try_rxe_socket(Scratch& scratch)
{
  if (scratch.rxe.name().empty()) return missing("rxe");
  return run_in(*scratch.host, []() -> Status {
    TRY_ASSIGN(const std::string sockets, read_file("/proc/thread-self/net/udp"));
    std::istringstream lines(sockets);
    std::string line;
    constexpr const char* roce_port = ":12B7 "; // 4791, IB specification annex A17
    while (std::getline(lines, line))
      if (line.find(roce_port) != std::string::npos) return {};
    return fail("no UDP socket of port 4791 in the namespace of an rxe device");
  });
}

constexpr Status (*attempts[])(Scratch&) = {try_namespaces, try_veth, try_bridge,
                                            try_netem,      try_seed, try_counts,
                                            try_ifb,        try_rxe,  try_rxe_socket};
static_assert(std::size(attempts) == std::size(questions));

/// In the child: a line of JSON for each capability as soon as it is known.
void report_all(int out)
{
  Scratch scratch;
  for (std::size_t i = 0; i < std::size(questions); ++i) {
    Capability capability = questions[i];
    const Status status = attempts[i](scratch);
    capability.ok = status.ok();
    if (status)
      capability.remedy.clear();
    else
      capability.why = status.error().message();
    if (!write_all(out, Json(capability).dump() + "\n", "report a capability")) return;
  }
  (void)scratch.rxe.remove(); // the rest goes with the namespaces
}

std::string read_until(int in, std::uint64_t deadline)
{
  std::string text;
  for (;;) {
    const std::uint64_t now = monotonic_ns();
    pollfd ready{in, POLLIN, 0};
    if (now >= deadline) return text;
    const int count = ::poll(&ready, 1, static_cast<int>((deadline - now) / 1'000'000 + 1));
    if (count < 0 && errno == EINTR) continue;
    char buffer[4096];
    const ssize_t got = count > 0 ? ::read(in, buffer, sizeof(buffer)) : 0;
    if (count <= 0 || got <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

/// A child that even SIGKILL can't end sits in the kernel; then we don't wait for it either.
void reap(pid_t child)
{
  const std::uint64_t deadline = monotonic_ns() + kill_patience_ns;
  while (::waitpid(child, nullptr, WNOHANG) == 0 && monotonic_ns() < deadline)
    sleep_until_ns(monotonic_ns() + 1'000'000);
}

std::string run_child()
{
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return {};
  Fd in(ends[0]);
  Fd out(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return {};
  if (child == 0) {
    report_all(out.get());
    ::_exit(0);
  }
  out.reset();
  std::string text = read_until(in.get(), monotonic_ns() + patience_ns);
  if (std::count(text.begin(), text.end(), '\n') < static_cast<long>(std::size(questions)))
    ::kill(child, SIGKILL);
  reap(child);
  return text;
}

} // namespace

std::vector<Capability> probe_kernel()
{
  std::vector<Capability> found;
  std::istringstream lines(run_child());
  std::string line;
  while (found.size() < std::size(questions) && std::getline(lines, line)) {
    const auto json = parse_json(line, "a capability");
    if (!json) break;
    auto capability = from_json_value<Capability>(*json, "a capability");
    if (!capability) break;
    found.push_back(std::move(*capability));
  }
  bool first = true; // what it hung on; the rest was never tried
  while (found.size() < std::size(questions)) {
    Capability capability = questions[found.size()];
    capability.why = first ? "the kernel did not come back in time" : "not tried";
    if (first) capability.remedy = kernel_remedy;
    first = false;
    found.push_back(std::move(capability));
  }
  return found;
}

bool can_run_labs(const std::vector<Capability>& capabilities)
{
  return !capabilities.empty() &&
         std::all_of(capabilities.begin(), capabilities.end(),
                     [](const Capability& one) { return one.ok || !one.required; });
}

} // namespace rdmalab::net
