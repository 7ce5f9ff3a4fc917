#include "engine/cell_trace.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/sha256.h"
#include "wire/trace_file.h"

#include <algorithm>

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>
#include <sys/mman.h>
#include <unistd.h>

namespace rdmalab::engine {

void put_raw_trace(record::Cell& cell, const TraceAbout& about, const fault::RawTrace& raw)
{
  // JSON text holds no zero byte, so what follows one are the records.
  cell.trace = to_text(Json{{"title", about.title},
                            {"hosts", about.hosts},
                            {"rules", about.rules},
                            {"rule_of", about.rule_of},
                            {"start_ns", raw.start_ns},
                            {"record_bytes", raw.record_bytes},
                            {"lost", raw.lost}});
  cell.trace.reserve(cell.trace.size() + 1 + raw.records.size());
  cell.trace += '\0';
  cell.trace += raw.records;
}

Status finish_trace(record::Cell& cell)
{
  if (cell.trace.empty()) return {};
  const std::uint64_t begin = monotonic_ns();
  const std::string_view text = cell.trace;
  const std::size_t text_bytes = text.size();
  const std::size_t end = std::min(text.find('\0'), text.size() - 1);
  TRY_ASSIGN(const Json about, parse_json(text.substr(0, end), "the trace"));
  TRY_ASSIGN(const auto record_bytes,
             from_json_value<std::size_t>(about.value("record_bytes", Json()), "the trace"));
  TRY_ASSIGN(const auto start_ns,
             from_json_value<std::uint64_t>(about.value("start_ns", Json()), "the trace"));
  TRY_ASSIGN(const auto rule_of, from_json_value<std::vector<std::uint16_t>>(
                                     about.value("rule_of", Json()), "the trace"));
  fault::CapturedTrace captured =
      fault::decode_trace(wire::bytes_of(text.substr(end + 1)), record_bytes, start_ns);
  wire::Trace& trace = captured.trace;
  trace.hosts = about.value("hosts", std::vector<std::string>{});
  trace.rules = about.value("rules", std::vector<std::string>{});
  trace.lost = about.value("lost", std::uint64_t{0});
  for (wire::TracedPacket& packet : trace.packets)
    if (packet.rule != 0)
      packet.rule = static_cast<std::uint16_t>(rule_of.at(packet.rule - 1U) + 1);

  Fd file(::memfd_create("trace", MFD_CLOEXEC));
  if (!file.valid()) return system_error("make room for the trace");
  Fd writer(::dup(file.get()));
  if (!writer.valid()) return system_error("make room for the trace");
  TRY(wire::write_trace(std::move(writer), "the trace", trace,
                        about.value("title", std::string{})));
  TRY_ASSIGN(cell.trace, read_file(fmt::format("/proc/self/fd/{}", file.get())));
  cell.trace_info = {trace.packets.size(), trace.lost, cell.trace.size(), sha256(cell.trace)};
  spdlog::debug("trace of {}: made of {} bytes in {} us", cell.id, text_bytes,
                (monotonic_ns() - begin) / 1000);
  return {};
}

} // namespace rdmalab::engine
