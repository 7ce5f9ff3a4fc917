#include "lab/rule.h"

#include "base/json.h"

namespace rdmalab::lab {

RDMALAB_JSON_ENUM(RuleKind, {{RuleKind::drop, "drop"},
                             {RuleKind::delay, "delay"},
                             {RuleKind::duplicate, "duplicate"},
                             {RuleKind::reorder, "reorder"},
                             {RuleKind::corrupt, "corrupt"},
                             {RuleKind::forge, "forge"},
                             {RuleKind::mark, "mark"},
                             {RuleKind::rewrite, "rewrite"}})
RDMALAB_JSON(Span, first, last)
RDMALAB_JSON(Rule, name, kind, traffic, stream, classes, positions, opcode, numbers, transmission,
             every, rate_ppm, draw, p_ppm, r_ppm, begin_ns, end_ns, limit, may_miss, delay_ns,
             packets, offset, bytes, dscp, ttl)

} // namespace rdmalab::lab
