#!/usr/bin/env bash
# The third road: verbs over siw, which is iWARP, RDMA over TCP. Every payload is compared, the loss is TCP's to mend, and
# the trace shows TCP at it.
# shellcheck source=lib/common.bash
. tests/e2e/lib/common.bash

cat >iwarp.yaml <<'YAML'
version: 1
name: iwarp
topology: {hosts: [client, server], link: {rate: 100mbit, delay: 20us, mtu: 4200}}
traffic:
  - {name: write, kind: verbs, op: write, transport: iwarp, qps: 2, message: 64KiB, depth: 4, from: client, to: server}
  - {name: send, kind: verbs, op: send, transport: iwarp, message: 5000B, messages: 100, from: client, to: server}
  - {name: small, kind: verbs, op: send, transport: iwarp, inline: on, message: 64B, depth: 1, from: server, to: client}
  - {name: notify, kind: verbs, op: write-notify, transport: iwarp, message: 100B, depth: 64, from: server, to: client}
  - {name: read, kind: verbs, op: read, transport: iwarp, message: 64KiB, depth: 4, from: server, to: client}
  - {name: shared, kind: verbs, op: send, transport: iwarp, srq: on, qps: 3, message: 5000B, messages: 40, from: client, to: server}
faults:
  - {name: loss, where: {from: client, to: server}, kind: loss, rate: 1%}
run: [[write], [send, small], [notify], [read], [shared]]
trace: {on: true}
measure: {warmup: 20ms, duration: 100ms, repeat: 1}
expect:
  - goodput(write, baseline) > 90mbit
  - retention(write) > 80%
  - retention(read) > 80%
  - messages(send) == 100
  - messages(shared) == 120
  - corrupt(write) + corrupt(send) + corrupt(small) + corrupt(notify) + corrupt(read) + corrupt(shared) == 0
YAML
expect_status 0 "$RDMALAB" run iwarp.yaml --json --record record.json --trace traces
holds '.verdict == "pass" and .problems == []' out
holds '[.cells[].flows[] | select(.outcome != "ok" or .total_messages != .sent_messages)] == []' record.json
holds '[.cells[].counters[] | select(.rdma != {})] == []' record.json # siw has none; rxe's would be here
frames() { tshark -r traces/write-faulted-0.pcapng -Y "$1" 2>/dev/null | wc -l; }
[ "$(frames tcp)" -gt 500 ] || fail "few frames of TCP in the trace"
[ "$(frames 'udp.port == 4791')" -eq 0 ] || fail "RoCE in a trace of iWARP"
[ "$(frames tcp.analysis.retransmission)" -gt 0 ] || fail "nothing was sent again at 1 % loss"

# A kernel without siw is told of before anything runs.
mkdir -p bare/usr/lib/modules
release=$(basename "$RDMALAB_KERNEL"/usr/lib/modules/*)
mkdir "bare/usr/lib/modules/$release"
ln -s "$(readlink -f "$RDMALAB_KERNEL")/usr/lib/modules/$release/"* "bare/usr/lib/modules/$release/"
rm "bare/usr/lib/modules/$release/modules.dep"
grep -v siw "$RDMALAB_KERNEL/usr/lib/modules/$release/modules.dep" >"bare/usr/lib/modules/$release/modules.dep"
RDMALAB_KERNEL=$PWD/bare expect_status 3 "$RDMALAB" run iwarp.yaml
grep -q 'scripts/build-siw builds it' err || fail "no remedy: $(cat err)"
