#pragma once

#include "base/fd.h"
#include "base/result.h"
#include "wire/bytes.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rdmalab::wire {

/// An interface of a capture, known to its packets by its place in the list.
struct CaptureInterface {
  std::string name;
  std::uint32_t snap_length = 0; ///< bytes kept of a frame; 0: all
  std::string description = {};
  bool operator==(const CaptureInterface&) const = default;
};

enum class CaptureDirection : std::uint8_t { unknown = 0, inbound = 1, outbound = 2 };

/// A captured Ethernet frame.
struct CapturedPacket {
  std::uint32_t interface = 0;
  std::uint64_t time_ns = 0;     ///< since the epoch, or since the start of what was captured
  std::uint32_t wire_length = 0; ///< before the snap length cut it
  CaptureDirection direction = CaptureDirection::unknown;
  Bytes bytes{};
  std::string_view comment{}; ///< shown beside the packet; empty: none
};

/// Writes a pcapng file (draft-ietf-opsawg-pcapng) with nanosecond time stamps, in chunks of a
/// megabyte. Nothing of this machine or moment gets into it: equal packets give equal bytes.
class PcapngWriter {
public:
  /// Takes the descriptor over. `what` names the file in errors, `application` and `comment` tell
  /// the reader who wrote it and about what (may be empty).
  static PcapngWriter create(Fd fd, std::string what, std::span<const CaptureInterface> interfaces,
                             std::string_view application, std::string_view comment = {});

  Status write(const CapturedPacket& packet);
  /// How many packets an interface saw and how many of them are missing here, at a time in ns.
  Status write_statistics(std::uint32_t interface, std::uint64_t time_ns, std::uint64_t received,
                          std::uint64_t dropped);
  /// Writes what is still held back. Without it the file lacks its end.
  Status finish();

private:
  PcapngWriter(Fd fd, std::string what) : fd_(std::move(fd)), what_(std::move(what)) {}
  Status flush_if_full();

  Fd fd_;
  std::string what_;
  std::string buffer_;
};

/// What read_pcapng() found. The packets' bytes and comments point into the text that was read.
struct Pcapng {
  struct Statistics {
    std::uint32_t interface = 0;
    std::uint64_t received = 0;
    std::uint64_t dropped = 0;
    bool operator==(const Statistics&) const = default;
  };
  std::string application;
  std::string comment;
  std::vector<CaptureInterface> interfaces;
  std::vector<CapturedPacket> packets;
  std::vector<Statistics> statistics;
};

/// Reads what PcapngWriter writes: one little-endian section, Ethernet, nanoseconds. Unknown blocks
/// and options are skipped; anything else is an Error that says at which byte. `what` names the
/// file in it.
Result<Pcapng> read_pcapng(std::string_view text, const std::string& what);

} // namespace rdmalab::wire
