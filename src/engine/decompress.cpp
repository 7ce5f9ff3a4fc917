#include "engine/decompress.h"

#include <memory>

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

namespace rdmalab::engine {
namespace {

using namespace std::string_view_literals;

constexpr size_t chunk = 1 << 20;

Error failed(const std::string& what, const char* format, const char* reason)
{
  return Error{Exit::environment,
               "unpack " + what + " (" + format + "): " + reason,
               0,
               "the file is damaged or cut short; fetch it again",
               {}};
}

const std::uint8_t* bytes(std::string_view data)
{
  return reinterpret_cast<const std::uint8_t*>(data.data());
}

Result<std::string> unpack_xz(std::string_view data, const std::string& what)
{
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, UINT64_MAX, 0) != LZMA_OK)
    return failed(what, "xz", "out of memory");
  std::string out;
  stream.next_in = bytes(data);
  stream.avail_in = data.size();
  lzma_ret ret = LZMA_OK;
  while (ret == LZMA_OK) {
    const size_t have = out.size();
    out.resize(have + chunk);
    stream.next_out = reinterpret_cast<std::uint8_t*>(out.data()) + have;
    stream.avail_out = chunk;
    ret = lzma_code(&stream, LZMA_RUN);
    out.resize(have + chunk - stream.avail_out);
  }
  lzma_end(&stream);
  if (ret != LZMA_STREAM_END) return failed(what, "xz", "bad data");
  return out;
}

Result<std::string> unpack_zstd(std::string_view data, const std::string& what)
{
  const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(),
                                                                          &ZSTD_freeDStream);
  // The kernel is packed with a window of up to 128 MiB (zstd --ultra --long).
  ZSTD_DCtx_setParameter(stream.get(), ZSTD_d_windowLogMax, 31);
  std::string out;
  ZSTD_inBuffer in{data.data(), data.size(), 0};
  for (size_t left = 1; left != 0;) {
    const size_t have = out.size();
    out.resize(have + chunk);
    ZSTD_outBuffer block{out.data() + have, chunk, 0};
    left = ZSTD_decompressStream(stream.get(), &block, &in);
    out.resize(have + block.pos);
    if (ZSTD_isError(left) != 0) return failed(what, "zstd", ZSTD_getErrorName(left));
    if (left != 0 && block.pos == 0 && in.pos == in.size) return failed(what, "zstd", "cut short");
  }
  return out;
}

Result<std::string> unpack_gzip(std::string_view data, const std::string& what)
{
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) return failed(what, "gzip", "out of memory");
  std::string out;
  stream.next_in = const_cast<Bytef*>(bytes(data)); // zlib's old interface; it doesn't write there
  stream.avail_in = static_cast<uInt>(data.size());
  int ret = Z_OK;
  while (ret == Z_OK) {
    const size_t have = out.size();
    out.resize(have + chunk);
    stream.next_out = reinterpret_cast<Bytef*>(out.data()) + have;
    stream.avail_out = static_cast<uInt>(chunk);
    ret = inflate(&stream, Z_NO_FLUSH);
    out.resize(have + chunk - stream.avail_out);
  }
  inflateEnd(&stream);
  if (ret != Z_STREAM_END) return failed(what, "gzip", "bad data");
  return out;
}

} // namespace

Result<std::string> decompress(std::string_view data, const std::string& what)
{
  if (data.starts_with("\xfd"
                       "7zXZ\0"sv))
    return unpack_xz(data, what);
  if (data.starts_with("\x28\xb5\x2f\xfd"sv)) return unpack_zstd(data, what);
  if (data.starts_with("\x1f\x8b"sv)) return unpack_gzip(data, what);
  return std::string(data);
}

} // namespace rdmalab::engine
