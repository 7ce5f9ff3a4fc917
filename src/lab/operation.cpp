#include "lab/operation.h"

#include <algorithm>
#include <array>

namespace rdmalab::lab {

namespace {

constexpr bool yes = true;
constexpr bool no = false;

// clang-format off
constexpr std::array<Operation, 9> operations{{
    //                                          receives lands immediate notice reads atomic local
    {VerbsOp::send,            "send",          yes,     yes,  no,       no,    no,   no,    no},
    {VerbsOp::send_imm,        "send-imm",      yes,     yes,  yes,      no,    no,   no,    no},
    {VerbsOp::write,           "write",         no,      no,   no,       no,    no,   no,    no},
    {VerbsOp::write_imm,       "write-imm",     yes,     no,   yes,      no,    no,   no,    no},
    {VerbsOp::write_notify,    "write-notify",  yes,     no,   no,       yes,   no,   no,    no},
    {VerbsOp::read,            "read",          no,      no,   no,       no,    yes,  no,    no},
    {VerbsOp::fetch_add,       "fetch-add",     no,      no,   no,       no,    no,   yes,   no},
    {VerbsOp::compare_swap,    "compare-swap",  no,      no,   no,       no,    no,   yes,   no},
    {VerbsOp::register_memory, "register",      no,      no,   no,       no,    no,   no,    yes},
}};
// clang-format on

} // namespace

const Operation& operation_of(VerbsOp op)
{
  return *std::find_if(operations.begin(), operations.end(),
                       [&](const Operation& o) { return o.op == op; });
}

bool confirmed_by_read(const Verbs& verbs)
{
  const Operation& op = operation_of(verbs.op);
  return verbs.transport == Transport::iwarp && !op.reads && !op.local;
}

std::uint64_t extended_header_bytes(const Operation& op, Transport transport, std::uint64_t packets)
{
  std::uint64_t bytes = transport == Transport::ud ? 8 * packets : 0;
  if (op.immediate) bytes += 4;
  if (op.atomic) return bytes + 28;
  if (op.reads) return bytes + (packets > 1 ? 8 : 4); // the first and the last response
  if (one_sided(op)) bytes += 16;                     // the first packet of a WRITE
  return bytes;
}

} // namespace rdmalab::lab
