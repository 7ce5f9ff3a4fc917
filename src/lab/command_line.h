#pragma once

#include <string>
#include <vector>

namespace rdmalab::lab {

/// What the words of a traffic of kind command stand for at one host.
struct CommandHost {
  std::string rdma; ///< {rdma}: its RDMA device
  std::string ip;   ///< {ip}: its address
  std::string peer; ///< {peer}: the other host's address
};

/// The words of Command::client or ::server, split at white space, with {rdma}, {ip} and {peer}
/// filled in where they are words of their own. No quoting: there is no shell.
std::vector<std::string> command_words(const std::string& line, const CommandHost& host);

} // namespace rdmalab::lab
