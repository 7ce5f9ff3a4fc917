#include "net/sysctl.h"

#include "base/file.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include <spdlog/spdlog.h>

namespace rdmalab::net {

namespace {

std::string path_of(const std::string& key)
{
  return "/proc/sys/" + key;
}

std::string trimmed(std::string text)
{
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

} // namespace

Status write_sysctl(const NetNamespace& ns, const std::string& key, const std::string& value)
{
  return run_in(ns, [&]() -> Status { return write_file(path_of(key), value); });
}

Result<std::string> read_sysctl(const NetNamespace& ns, const std::string& key)
{
  return run_in(ns, [&]() -> Result<std::string> {
    TRY_ASSIGN(std::string text, read_file(path_of(key)));
    return trimmed(std::move(text));
  });
}

Status disable_ipv6(const NetNamespace& ns)
{
  return run_in(ns, []() -> Status {
    for (const char* which : {"all", "default"}) {
      const std::string path = path_of(std::string("net/ipv6/conf/") + which + "/disable_ipv6");
      std::error_code ignored;
      if (std::filesystem::exists(path, ignored)) TRY(write_file(path, "1"));
    }
    return {};
  });
}

Result<RaisedSysctl> RaisedSysctl::raise(const NetNamespace& ns, const std::string& key,
                                         std::uint64_t minimum)
{
  TRY_ASSIGN(const std::string before, read_sysctl(ns, key));
  RaisedSysctl raised;
  if (std::strtoull(before.c_str(), nullptr, 10) >= minimum) return raised;
  TRY(write_sysctl(ns, key, std::to_string(minimum)));
  raised.key_ = key;
  raised.before_ = before;
  return raised;
}

RaisedSysctl::RaisedSysctl(RaisedSysctl&& other) noexcept
    : key_(std::move(other.key_)), before_(std::exchange(other.before_, {}))
{}

RaisedSysctl& RaisedSysctl::operator=(RaisedSysctl&& other) noexcept
{
  if (this != &other) {
    restore();
    key_ = std::move(other.key_);
    before_ = std::exchange(other.before_, {});
  }
  return *this;
}

void RaisedSysctl::restore()
{
  if (before_.empty()) return;
  if (const Status status = write_file(path_of(key_), std::exchange(before_, {})); !status)
    spdlog::warn("{}", status.error().message());
}

} // namespace rdmalab::net
