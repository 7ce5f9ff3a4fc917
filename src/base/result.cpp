#include "base/result.h"

#include <cerrno>
#include <system_error>

namespace rdmalab {

std::string Error::message() const
{
  std::string text = where.empty() ? attempted : where + ": " + attempted;
  if (number != 0) text += ": " + std::generic_category().message(number);
  return text;
}

Error system_error(std::string attempted, Exit exit, std::string hint)
{
  return system_error(errno, std::move(attempted), exit, std::move(hint));
}

Error system_error(int number, std::string attempted, Exit exit, std::string hint)
{
  return {exit, std::move(attempted), number, std::move(hint), {}};
}

Error usage_error(std::string attempted, std::string hint)
{
  return {Exit::usage, std::move(attempted), 0, std::move(hint), {}};
}

} // namespace rdmalab
