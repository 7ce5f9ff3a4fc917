#include "ebpf/load.h"

#include "ebpf/log.h"

namespace rdmalab::ebpf {

Status load_programs(const std::string& what, const std::function<int()>& load)
{
  const BpfLog log;
  if (const int failed = load())
    return system_error(-failed, "load " + what, Exit::setup, log.tail());
  return {};
}

} // namespace rdmalab::ebpf
