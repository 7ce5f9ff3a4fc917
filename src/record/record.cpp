#include "record/record.h"

#include "base/json.h"
#include "base/sha256.h"

namespace rdmalab::record {

std::string digest(const Record& record)
{
  Json measured;
  measured["version"] = record.version;
  measured["lab"] = record.lab;
  measured["cells"] = record.cells;
  // A line of the kernel's log need not be UTF-8, and dump() would throw.
  return sha256(measured.dump(-1, ' ', false, Json::error_handler_t::replace));
}

} // namespace rdmalab::record
