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
  return sha256(to_text(measured));
}

} // namespace rdmalab::record
