#include "traffic/socket_option.h"

#include <sys/socket.h>

namespace rdmalab::traffic {

Status set_option(int fd, int level, int option, int value, const char* name)
{
  if (::setsockopt(fd, level, option, &value, sizeof value) != 0)
    return system_error(std::string("set socket option ") + name);
  return {};
}

} // namespace rdmalab::traffic
