#pragma once

#include "base/json.h"

#include <cstdint>
#include <vector>

namespace rdmalab::traffic {

/// What the two ends tell each other before their QPs connect.
struct Introduction {
  std::vector<std::uint32_t> qp_numbers;
  std::vector<std::uint32_t> psns;
  std::uint64_t base = 0; ///< address of slot 0
  std::uint32_t key = 0;  ///< remote key of the slots
  std::uint32_t active_mtu = 0;
  std::uint64_t message_bytes = 0;
};

inline void to_json(Json& json, const Introduction& i)
{
  json = {{"qp_numbers", i.qp_numbers},
          {"psns", i.psns},
          {"base", i.base},
          {"key", i.key},
          {"active_mtu", i.active_mtu},
          {"message_bytes", i.message_bytes}};
}

inline void from_json(const Json& json, Introduction& i)
{
  json.at("qp_numbers").get_to(i.qp_numbers);
  json.at("psns").get_to(i.psns);
  json.at("base").get_to(i.base);
  json.at("key").get_to(i.key);
  json.at("active_mtu").get_to(i.active_mtu);
  json.at("message_bytes").get_to(i.message_bytes);
}

} // namespace rdmalab::traffic
