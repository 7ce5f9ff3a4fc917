#include "net/offload.h"

#include "net/message.h"

#include <cerrno>
#include <cstring>

#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace rdmalab::net {

namespace {

/// An ethtool command with its trailing array, in words so that it is aligned.
class Command {
public:
  explicit Command(std::size_t bytes) : words_((bytes + 7) / 8) {}
  [[nodiscard]] void* data() { return words_.data(); }
  template <typename T> T* as() { return reinterpret_cast<T*>(words_.data()); }

private:
  std::vector<std::uint64_t> words_;
};

std::uint32_t blocks_for(std::size_t features)
{
  return static_cast<std::uint32_t>((features + 31) / 32);
}

} // namespace

bool is_batching_offload(std::string_view feature)
{
  const auto contains = [&](std::string_view part) {
    return feature.find(part) != std::string_view::npos;
  };
  return contains("segmentation") || contains("-gro") || contains("gso-list") ||
         feature == "rx-lro";
}

Result<Ethtool> Ethtool::open(const NetNamespace& ns)
{
  return run_in(ns, []() -> Result<Ethtool> {
    Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!socket.valid()) return system_error("open a socket for ethtool");
    return Ethtool(std::move(socket));
  });
}

Status Ethtool::call(const std::string& device, void* command, const std::string& attempted)
{
  ifreq request{};
  if (device.size() >= sizeof(request.ifr_name))
    return system_error(ENAMETOOLONG, attempted + " of " + device);
  std::memcpy(request.ifr_name, device.c_str(), device.size());
  request.ifr_data = static_cast<char*>(command);
  if (::ioctl(socket_.get(), SIOCETHTOOL, &request) < 0)
    return system_error(attempted + " of " + device);
  return {};
}

Result<std::vector<std::string>> Ethtool::feature_names(const std::string& device)
{
  if (!names_.empty()) return names_;
  Command sizes(sizeof(ethtool_sset_info) + sizeof(std::uint32_t));
  sizes.as<ethtool_sset_info>()->cmd = ETHTOOL_GSSET_INFO;
  sizes.as<ethtool_sset_info>()->sset_mask = 1ULL << ETH_SS_FEATURES;
  TRY(call(device, sizes.data(), "count the features"));
  const std::uint32_t count = sizes.as<ethtool_sset_info>()->data[0];

  Command strings(sizeof(ethtool_gstrings) + std::size_t{count} * ETH_GSTRING_LEN);
  strings.as<ethtool_gstrings>()->cmd = ETHTOOL_GSTRINGS;
  strings.as<ethtool_gstrings>()->string_set = ETH_SS_FEATURES;
  strings.as<ethtool_gstrings>()->len = count;
  TRY(call(device, strings.data(), "name the features"));
  const auto* names = reinterpret_cast<const std::byte*>(strings.as<ethtool_gstrings>()->data);
  for (std::size_t i = 0; i < count; ++i)
    names_.push_back(text_of({names + i * ETH_GSTRING_LEN, ETH_GSTRING_LEN}));
  return names_;
}

Result<std::vector<std::string>> Ethtool::batching_offloads(const std::string& device)
{
  TRY_ASSIGN(const auto names, feature_names(device));
  const std::uint32_t blocks = blocks_for(names.size());
  Command get(sizeof(ethtool_gfeatures) + blocks * sizeof(ethtool_get_features_block));
  get.as<ethtool_gfeatures>()->cmd = ETHTOOL_GFEATURES;
  get.as<ethtool_gfeatures>()->size = blocks;
  TRY(call(device, get.data(), "read the features"));
  std::vector<std::string> on;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::uint32_t active = get.as<ethtool_gfeatures>()->features[i / 32].active;
    if (is_batching_offload(names[i]) && ((active >> (i % 32)) & 1U) != 0) on.push_back(names[i]);
  }
  return on;
}

Result<std::vector<std::string>> Ethtool::disable_batching(const std::string& device)
{
  TRY_ASSIGN(const auto names, feature_names(device));
  const std::uint32_t blocks = blocks_for(names.size());
  Command set(sizeof(ethtool_sfeatures) + blocks * sizeof(ethtool_set_features_block));
  set.as<ethtool_sfeatures>()->cmd = ETHTOOL_SFEATURES;
  set.as<ethtool_sfeatures>()->size = blocks;
  // The kernel refuses bits that ethtool may never touch (NETIF_F_ETHTOOL_BITS lacks a few), so
  // only what is on is named; ETHTOOL_F_UNSUPPORTED and _WISH are answers, not errors: the readback
  // tells.
  TRY_ASSIGN(const auto on, batching_offloads(device));
  if (on.empty()) return on;
  for (std::size_t i = 0; i < names.size(); ++i)
    for (const std::string& name : on)
      if (names[i] == name) set.as<ethtool_sfeatures>()->features[i / 32].valid |= 1U << (i % 32);
  TRY(call(device, set.data(), "switch off the batching offloads"));
  return batching_offloads(device);
}

} // namespace rdmalab::net
