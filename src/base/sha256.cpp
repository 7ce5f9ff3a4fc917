#include "base/sha256.h"

#include <array>

#include <sha256.h>
#include <sys/types.h>

namespace rdmalab {

std::string sha256(std::string_view data)
{
  std::array<char, SHA256_DIGEST_STRING_LENGTH> hex{};
  SHA256Data(reinterpret_cast<const std::uint8_t*>(data.data()), data.size(), hex.data());
  return "sha256:" + std::string(hex.data());
}

Result<std::string> sha256_file(const std::filesystem::path& path)
{
  std::array<char, SHA256_DIGEST_STRING_LENGTH> hex{};
  if (SHA256File(path.c_str(), hex.data()) == nullptr) return system_error("hash " + path.string());
  return "sha256:" + std::string(hex.data());
}

} // namespace rdmalab
