#include "base/json.h"
#include "record/record.h"

namespace rdmalab::record {

RDMALAB_JSON(Flow, traffic, outcome, failed_step, failure, window_ns, bytes, messages, total_bytes,
             total_messages, sent_messages, checked_messages, corrupt_messages, bytes_per_stream,
             completions, qp_states, setup_ns, tcp_info, path_mtu, output, figure, latency)
RDMALAB_JSON(Cpu, host, app_user_ns, app_system_ns, rxe_ns, softirq_ns)
RDMALAB_JSON(Counters, host, rdma, device)
RDMALAB_JSON(Impairment, host, up, requested, applied, applied_as_requested, packets, bytes,
             dropped, overflowed, duplicated, reordered, corrupted, delayed, exact)
RDMALAB_JSON(Stream, traffic, index, from, to, from_qp, to_qp, from_psn, to_psn, from_port, to_port)
RDMALAB_JSON(RuleCount, rule, matched, fired, held)
RDMALAB_JSON(Firing, rule, time_ns, stream, packet_class, number, transmission, bytes)
RDMALAB_JSON(ClassCount, from, to, packet_class, sent, dropped, duplicated, passed, arrived)
RDMALAB_JSON(TraceInfo, packets, lost, bytes, digest)
RDMALAB_JSON(PathHost, host, stage_ns, borders, syscalls, wakeups, switches, work_items, softirqs,
             packets_in, packets_out, copies_in, copied_in, copies_out, copied_out, checksums,
             task_ns, stolen_ns, waited_ns)
RDMALAB_JSON(PathWire, to, frames, bytes, ns, min_ns)
RDMALAB_JSON(Path, hosts, wire, interrupts, unbalanced, missing)
RDMALAB_JSON(Cell, id, traffic, condition, repeat, seed, window_ns, busy_ns, cpus, flows, cpu, path,
             counters, impairments, offloads, streams, rules, firings, packets, trace_info,
             problems, kernel_log)
RDMALAB_JSON(Environment, engine, clock, accelerator, kernel, qemu, rdmalab, snapshot, start)
RDMALAB_JSON(Timing, wall_seconds, first_packet_seconds)
RDMALAB_JSON(Record, version, lab, environment, timing, cells)

} // namespace rdmalab::record
