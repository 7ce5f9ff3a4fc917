#include "fault/programs.h"

#include "base/file.h"
#include "ebpf/load.h"
#include "fault/addresses.h"
#include "fault/placement.h"
#include "fault/programs_state.h"
#include "fault/tables.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <linux/pkt_cls.h>
#include <spdlog/fmt/fmt.h>

namespace rdmalab::fault {

namespace {

constexpr std::uint32_t snap_step = FAULT_SNAP_STEP;
/// Records have 24 bits in a packet's mark.
constexpr std::uint64_t most_records = FAULT_MARK_TRACE - 1;

/// Of their table, 2^26 slots of 8 bytes.
constexpr std::uint32_t most_counted = 1U << 24U;

std::uint32_t rounded_snap(std::uint32_t snap)
{
  const std::uint32_t wanted = std::clamp<std::uint32_t>(snap, snap_step, FAULT_PORT_BYTES);
  return (wanted + snap_step - 1) / snap_step * snap_step;
}

Result<std::shared_ptr<Fd>> open_namespace(const std::string& path)
{
  TRY_ASSIGN(Fd opened, open_file(path, O_RDONLY | O_CLOEXEC));
  return std::make_shared<Fd>(std::move(opened));
}

template <typename To, typename From> void copy_table(To& to, const From& from)
{
  static_assert(sizeof(to) == sizeof(from));
  std::memcpy(&to, &from, sizeof(to));
}

} // namespace

std::uint64_t trace_record_bytes(std::uint32_t snap)
{
  return sizeof(fault_record) + rounded_snap(snap);
}

std::uint64_t trace_records(const Options& options)
{
  return std::min(options.trace_bytes / (sizeof(fault_record) + options.snap), most_records);
}

namespace {

/// A table that is a quarter full at most has short ways.
std::uint32_t transmission_slots(const Options& options)
{
  return std::bit_ceil(options.transmissions) * 4;
}

Status set_sizes(fault_bpf& skeleton, const Options& options)
{
  const std::uint32_t record = sizeof(fault_record) + options.snap;
  const std::uint64_t records = trace_records(options);
  auto& maps = skeleton.maps;
  if (bpf_map__set_value_size(maps.trace, record) != 0 ||
      bpf_map__set_max_entries(
          maps.trace, static_cast<std::uint32_t>(std::max<std::uint64_t>(records, 1))) != 0 ||
      bpf_map__set_max_entries(maps.firings, options.firings) != 0 ||
      bpf_map__set_max_entries(maps.transmissions, transmission_slots(options)) != 0)
    return system_error("size the maps of the fault programs");
  auto& constants = *skeleton.rodata;
  constants.snap = options.snap;
  constants.firing_slots = options.firings;
  constants.most_transmissions = options.transmissions;
  constants.transmission_mask = transmission_slots(options) - 1;
  copy_table(constants.opcode_kinds, opcode_kinds());
  copy_table(constants.opcode_headers, opcode_headers());
  copy_table(constants.crc_table, crc_table());
  copy_table(constants.crc_zeros, crc_zeros());
  return {};
}

} // namespace

Programs::Programs(std::unique_ptr<State> state) : state_(std::move(state)) {}
Programs::Programs(Programs&&) noexcept = default;
Programs& Programs::operator=(Programs&&) noexcept = default;
Programs::~Programs() = default;

Result<Programs> Programs::load(const Options& options)
{
  auto state = std::make_unique<State>();
  state->options = options;
  state->options.snap = rounded_snap(options.snap);
  state->options.firings = std::max<std::uint32_t>(options.firings, 1);
  state->options.transmissions = std::clamp<std::uint32_t>(options.transmissions, 1, most_counted);

  state->skeleton.reset(fault_bpf__open());
  if (!state->skeleton) return system_error("open the fault programs", Exit::setup);
  TRY(set_sizes(*state->skeleton, state->options));
  TRY(ebpf::load_programs("the fault programs",
                          [&state] { return fault_bpf__load(state->skeleton.get()); }));
  return Programs(std::move(state));
}

const bpf_program* Programs::State::program(Program which) const
{
  const auto& programs = skeleton->progs;
  switch (which) {
  case Program::entered:
    return programs.entered;
  case Program::port_out:
    return programs.port_out;
  case Program::arrived:
    return programs.arrived;
  case Program::release_held:
    break;
  }
  return programs.release_held;
}

int Programs::descriptor(Program program) const
{
  return bpf_program__fd(state_->program(program));
}

Status Programs::set_hosts(const std::vector<Port>& ports)
{
  if (ports.size() > +FAULT_HOSTS)
    return system_error(E2BIG, fmt::format("attach fault programs to {} hosts", ports.size()),
                        Exit::setup, fmt::format("at most {} are possible", +FAULT_HOSTS));
  std::vector<std::vector<wire::IpAddress>> addresses;
  addresses.reserve(ports.size());
  for (const Port& port : ports) addresses.push_back(port.addresses);
  TRY_ASSIGN(const AddressTable table, make_address_table(addresses));
  auto& globals = *state_->skeleton->bss;
  copy_table(globals.addresses, table.slots);
  state_->skeleton->data->address_factor = table.factor;
  state_->skeleton->data->entered_verdict =
      std::ranges::any_of(ports, &Port::filters_follow) ? TC_ACT_UNSPEC : TC_ACT_OK;
  for (std::size_t i = 0; i < ports.size(); ++i) globals.ports[i].ifindex = ports[i].ifindex;
  state_->ports = ports;
  return {};
}

Status Programs::State::attach(const Port& port)
{
  TRY_ASSIGN(auto host, open_namespace(port.netns_path));
  const auto add = [this, &port](Program which, const std::shared_ptr<Fd>& netns,
                                 std::uint32_t ifindex, Hook hook) -> Status {
    const auto* const name = bpf_program__name(program(which));
    TRY_ASSIGN(auto made,
               Attachment::attach(bpf_program__fd(program(which)), netns, ifindex, hook, way(),
                                  fmt::format("program {} for {}", name, port.host)));
    attachments.push_back(std::move(made));
    return {};
  };
  TRY(add(Program::arrived, host, port.device_ifindex, Hook::ingress));
  TRY(add(Program::port_out, fabric, port.ifindex, Hook::egress));
  return add(Program::entered, fabric, port.ifindex, Hook::ingress);
}

Status Programs::attach(const std::string& fabric_path, const std::vector<Port>& ports)
{
  TRY(set_hosts(ports));
  TRY_ASSIGN(state_->fabric, open_namespace(fabric_path));
  for (const Port& port : ports) {
    Status attached = state_->attach(port);
    if (attached) continue;
    detach();
    return attached;
  }
  return {};
}

void Programs::detach()
{
  state_->attachments.clear();
  state_->hold.reset();
  state_->skeleton->bss->hold_ifindex = 0;
}

bool Programs::by_tcx() const
{
  return std::ranges::all_of(state_->attachments, &Attachment::by_tcx);
}

Status Programs::State::make_hold()
{
  if (hold || !fabric) return {};
  TRY_ASSIGN(hold, Hold::create(fabric->get(), hold_queue));
  TRY_ASSIGN(auto release,
             Attachment::attach(bpf_program__fd(program(Program::release_held)), fabric,
                                hold->out(), Hook::ingress, way(), "program release_held"));
  attachments.push_back(std::move(release));
  skeleton->bss->hold_ifindex = hold->in();
  return {};
}

Status Programs::set_rules(const std::vector<Rule>& rules, std::uint64_t seed)
{
  TRY_ASSIGN(auto compiled, compile_all(rules, seed));
  const bool delays = std::ranges::any_of(
      rules, [](const Rule& rule) { return rule.action == wire::FaultAction::delay; });
  if (delays) TRY(state_->make_hold());
  state_->rules = rules;
  state_->compiled = std::move(compiled);
  return {};
}

void Programs::use_hold(std::uint32_t ifindex)
{
  state_->skeleton->bss->hold_ifindex = ifindex;
}

void Programs::hold_queue(Hold::Queue queue)
{
  state_->hold_queue = queue;
}

Result<Programs::Size> Programs::size(Program program) const
{
  bpf_prog_info info{};
  std::uint32_t length = sizeof(info);
  if (bpf_obj_get_info_by_fd(descriptor(program), &info, &length) != 0)
    return system_error("read the size of a fault program");
  return Size{info.xlated_prog_len / static_cast<std::uint32_t>(sizeof(bpf_insn)),
              info.jited_prog_len};
}

} // namespace rdmalab::fault
