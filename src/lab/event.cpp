#include "lab/event.h"

#include "base/json.h"

namespace rdmalab::lab {

RDMALAB_JSON_ENUM(EventKind, {{EventKind::packet, "packet"},
                              {EventKind::never, "never"},
                              {EventKind::completion, "completion"},
                              {EventKind::state, "state"},
                              {EventKind::counter, "counter"}})
RDMALAB_JSON(Event, kind, text, traffic, stream, packet_class, opcode, number, syndrome, rnr_timer,
             transmission, from, rule, after_ns, within_ns, word, host, count, line)

} // namespace rdmalab::lab
