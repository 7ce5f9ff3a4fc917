/// The pcapng writer: against its reader, a golden file, and tshark's dissection of it.
/// RDMALAB_UPDATE_GOLDEN=1 writes the golden file anew.
#include "base/file.h"
#include "base/process.h"
#include "wire/pcapng.h"
#include "wire_fixture.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>

namespace rdmalab::wire {
namespace {

namespace fs = std::filesystem;
using test::headers;
using test::ipv4;

const fs::path golden = fs::path(RDMALAB_SOURCE_DIR) / "tests/golden/wire/recovery.pcapng";
constexpr std::string_view dropped = "dropped by rule third-write";

/// One frame of the golden capture and what tshark has to make of it.
struct Expected {
  Frame frame;
  std::string_view comment;
  std::string_view protocol;
  std::string opcode; ///< decimal, empty for TCP
};

/// A write whose third packet is lost, the NAK, its second transmission; then every opcode once on
/// every kind of frame, and TCP.
std::vector<Expected> scene()
{
  std::vector<Expected> result;
  const auto add = [&](const PacketBuilder& builder, RoceHeaders headers, std::size_t payload,
                       std::string_view comment = {}) {
    const Frame data(payload, std::byte{0x5a});
    const auto code = headers.bth.opcode;
    result.push_back({builder.roce(headers, data), comment, "RRoCE", std::to_string(code)});
  };
  const PacketBuilder there = ipv4().ecn(2).source_port(0xc123);
  PacketBuilder back = ipv4().source_port(0xc123);
  back.addresses(*parse_ip("10.0.0.2"), *parse_ip("10.0.0.1"));

  RoceHeaders first = headers("RC_RDMA_WRITE_FIRST", 0xfffffe);
  first.reth = Reth{0x7f0000001000, 0x1234, 256 * 4};
  add(there, first, 256);
  add(there, headers("RC_RDMA_WRITE_MIDDLE", 0xffffff), 256);
  add(there, headers("RC_RDMA_WRITE_MIDDLE", 0), 256, dropped);
  add(there, headers("RC_RDMA_WRITE_LAST", 1), 256);
  RoceHeaders nak = headers("RC_ACKNOWLEDGE", 0, 18);
  nak.aeth = Aeth{Syndrome::nak(NakCode::psn_sequence_error).encode(), 0};
  add(back, nak, 0);
  add(there, headers("RC_RDMA_WRITE_MIDDLE", 0), 256);
  add(there, headers("RC_RDMA_WRITE_LAST", 1), 256);
  RoceHeaders ack = headers("RC_ACKNOWLEDGE", 1, 18);
  ack.aeth = Aeth{Syndrome::ack().encode(), 1};
  add(back, ack, 0);

  for (const PacketBuilder& builder : test::every_builder()) {
    for (const Opcode& opcode : opcodes())
      add(builder, headers(opcode.name, 5), opcode.role == Role::data ? 33 : 0);
    result.push_back({builder.tcp({}, Frame(100)), {}, "TCP", ""});
  }
  return result;
}

Result<std::string> write_scene(const fs::path& path)
{
  TRY_ASSIGN(Fd fd, open_file(path, O_WRONLY | O_CREAT | O_TRUNC));
  const std::array<CaptureInterface, 2> interfaces{CaptureInterface{"client0", 0, "port of client"},
                                                   CaptureInterface{"server0", 0}};
  auto writer = PcapngWriter::create(std::move(fd), path.string(), interfaces, "rdmalab test",
                                     "a lost write and its recovery");
  std::uint64_t time_ns = 1'700'000'000'123'456'789;
  for (const Expected& expected : scene()) {
    CapturedPacket packet;
    packet.interface = decode_packet(expected.frame).source == *parse_ip("10.0.0.2") ? 1 : 0;
    packet.time_ns = time_ns += 1'001;
    packet.wire_length = static_cast<std::uint32_t>(expected.frame.size());
    packet.direction = CaptureDirection::inbound;
    packet.bytes = expected.frame;
    packet.comment = expected.comment;
    TRY(writer.write(packet));
  }
  TRY(writer.write_statistics(0, time_ns, 200, 3));
  TRY(writer.finish());
  return read_file(path);
}

std::string scene_bytes()
{
  auto folder = TemporaryFolder::create("rdmalab-wire-");
  EXPECT_TRUE(folder);
  auto text = write_scene(folder->path() / "scene.pcapng");
  EXPECT_TRUE(text) << text.error().message();
  return *text;
}

TEST(WirePcapng, IsByteForByteTheGoldenFile)
{
  const std::string text = scene_bytes();
  if (const char* update = std::getenv("RDMALAB_UPDATE_GOLDEN");
      update != nullptr && *update == '1') {
    ASSERT_TRUE(write_file(golden, text));
    return;
  }
  const auto kept = read_file(golden);
  ASSERT_TRUE(kept) << kept.error().message();
  EXPECT_TRUE(*kept == text) << "if that is meant, write it with RDMALAB_UPDATE_GOLDEN=1";
}

TEST(WirePcapng, ComesBackAsItWasWritten)
{
  const std::string text = scene_bytes();
  const auto read = read_pcapng(text, "scene");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->application, "rdmalab test");
  EXPECT_EQ(read->comment, "a lost write and its recovery");
  ASSERT_EQ(read->interfaces.size(), 2U);
  EXPECT_EQ(read->interfaces[0].name, "client0");
  EXPECT_EQ(read->interfaces[0].description, "port of client");
  ASSERT_EQ(read->statistics.size(), 1U);
  EXPECT_EQ(read->statistics[0], (Pcapng::Statistics{0, 200, 3}));
  const auto expected = scene();
  ASSERT_EQ(read->packets.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const CapturedPacket& packet = read->packets[i];
    EXPECT_TRUE(std::ranges::equal(packet.bytes, expected[i].frame)) << i;
    EXPECT_EQ(packet.wire_length, expected[i].frame.size());
    EXPECT_EQ(packet.time_ns, 1'700'000'000'123'456'789 + 1'001 * (i + 1));
    EXPECT_EQ(packet.comment, expected[i].comment);
    EXPECT_EQ(packet.direction, CaptureDirection::inbound);
  }
}

TEST(WirePcapng, KeepsTheWireLengthOfACutPacketAndCutsAnEndlessComment)
{
  auto folder = TemporaryFolder::create("rdmalab-wire-");
  ASSERT_TRUE(folder);
  const fs::path path = folder->path() / "cut.pcapng";
  auto fd = open_file(path, O_WRONLY | O_CREAT);
  ASSERT_TRUE(fd);
  const CaptureInterface interface {
    "p0", 64
  };
  auto writer = PcapngWriter::create(std::move(*fd), path.string(), std::span(&interface, 1), {});
  const Frame frame(61);
  const std::string comment(100'000, 'x');
  // More than one chunk.
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(writer.write({.wire_length = 1500, .bytes = frame, .comment = comment}));
  ASSERT_TRUE(writer.finish());
  const auto text = read_file(path);
  ASSERT_TRUE(text);
  const auto read = read_pcapng(*text, "cut");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->interfaces[0].snap_length, 64U);
  ASSERT_EQ(read->packets.size(), 20U);
  EXPECT_EQ(read->packets[19].wire_length, 1500U);
  EXPECT_EQ(read->packets[19].bytes.size(), 61U);
  EXPECT_EQ(read->packets[19].comment.size(), 65'535U);
  EXPECT_EQ(read->packets[19].direction, CaptureDirection::unknown);
}

TEST(WirePcapng, AFullDeviceIsAnError)
{
  auto fd = open_file("/dev/full", O_WRONLY);
  ASSERT_TRUE(fd);
  const CaptureInterface interface {
    "p0", 0
  };
  auto writer = PcapngWriter::create(std::move(*fd), "/dev/full", std::span(&interface, 1), {});
  const Status status = writer.finish();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().number, ENOSPC);
}

TEST(WirePcapng, ReaderRefusesBrokenFilesAndReadsNothingPastThem)
{
  const std::string text = scene_bytes();
  const auto whole = read_pcapng(text, "whole");
  ASSERT_TRUE(whole);
  for (std::size_t length = 0; length < 400; ++length) {
    const std::string cut(text.data(), length);
    const auto read = read_pcapng(cut, "cut");
    if (read) {
      EXPECT_LT(read->packets.size(), whole->packets.size()) << length;
    }
  }
  EXPECT_FALSE(read_pcapng(text.substr(0, text.size() - 1), "cut"));
  EXPECT_FALSE(read_pcapng("", "empty"));
  EXPECT_FALSE(read_pcapng(std::string(64, '\0'), "zeros"));
  std::string length = text;
  length[4] = static_cast<char>(length[4] + 4);
  EXPECT_FALSE(read_pcapng(length, "length"));
}

std::vector<std::string> split(const std::string& text, char at)
{
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

/// tshark reads what we write: RoCEv2 as such, nothing malformed, and the comment.
TEST(WirePcapng, TsharkDissectsEveryPacket)
{
  if (const auto there = run_program({"tshark", "--version"}); !there || there->status != 0)
    GTEST_SKIP() << "no tshark here";
  const auto ran = run_program(
      {"sh", "-c",
       "exec tshark -r \"$1\" -T fields -E occurrence=f -E separator=';' -e _ws.col.Protocol "
       "-e infiniband.bth.opcode -e frame.interface_name -e frame.comment -e _ws.malformed "
       "-e frame.time_epoch -e infiniband.bth.psn -e infiniband.invariant.crc 2>/dev/null",
       "sh", golden.string()});
  ASSERT_TRUE(ran) << ran.error().message();
  ASSERT_EQ(ran->status, 0) << ran->output;
  const auto lines = split(ran->output, '\n');
  const auto expected = scene();
  ASSERT_EQ(lines.size(), expected.size()) << ran->output;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    SCOPED_TRACE(lines[i]);
    auto fields = split(lines[i], ';');
    fields.resize(8);
    EXPECT_EQ(fields[0], expected[i].protocol);
    EXPECT_EQ(fields[1], expected[i].opcode);
    EXPECT_EQ(fields[3], expected[i].comment);
    EXPECT_EQ(fields[4], "") << "malformed";
  }
  const auto lost = split(lines[2], ';');
  EXPECT_EQ(lost[2], "client0");
  EXPECT_EQ(lost[5], "1700000000.123459792");
  EXPECT_EQ(lost[6], "0");
}

} // namespace
} // namespace rdmalab::wire
