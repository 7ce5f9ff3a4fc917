#!/usr/bin/env bash
# Faults addressed to single packets, on real rxe and real TCP: each rule hits what it names and nothing else, the books
# close, the trace holds every packet and tshark reads all of it, and all of that repeats to the byte.
# shellcheck source=lib/common.bash
. tests/e2e/lib/common.bash
command -v tshark >/dev/null || { echo "tshark is not installed"; exit 77; }

cat >rules.yaml <<'YAML'
version: 1
name: rules
topology: {hosts: [client, server], link: {rate: 200mbit, delay: 20us}}
traffic:
  - {name: write, kind: verbs, op: write, from: client, to: server, message: 16KiB, qps: 2, timeout: 10}
  - {name: read, kind: verbs, op: read, from: client, to: server, message: 16KiB, timeout: 10}
  - {name: tcp, kind: tcp, from: client, to: server, message: 16KiB}
rules:
  - {name: again, kind: drop, traffic: write, stream: 0, class: data, number: 100, transmission: 1..2}
  - {name: list, kind: drop, traffic: write, stream: 1, class: data, number: [150, 170..172], transmission: 1}
  - {name: silence, kind: drop, traffic: write, stream: 1, class: nak, limit: 1, begin: 1ms}
  - {name: response, kind: drop, traffic: read, class: read-response, position: last, number: 303.., limit: 1}
  - {name: stale, kind: corrupt, traffic: read, class: read-response, number: 501, transmission: 1}
  - {name: segment, kind: drop, traffic: tcp, class: data, number: 200000, transmission: 1}
  - {name: twice, kind: duplicate, traffic: tcp, class: data, every: 50}
  - {name: held, kind: delay, delay: 2ms, traffic: tcp, class: ack, every: 40}
  - {name: late, kind: reorder, packets: 2, traffic: write, class: data, every: 700}
  - {name: forged, kind: forge, traffic: write, stream: 0, class: data, number: 300.., limit: 1, offset: 40}
  - {name: seen, kind: mark, traffic: write, class: ack, every: 20}
trace: {snap: 128}
measure: {warmup: 0ms, duration: 100ms, repeat: 1}
expect:
  - fired(again) == 2
  - fired(list) == 4
  - fired(silence) == 1
  - fired(response) == 1
  - fired(stale) == 1
  - fired(segment) == 1
  - fired(forged) == 1
  - corrupt(write) == 1
  - corrupt(read) == 0
  - corrupt(tcp) == 0
YAML
expect_status 0 "$RDMALAB" run rules.yaml --json --trace trace --record first.json
cp out first.result
holds '.verdict == "pass" and .problems == []' first.result

# What was hit is what was named: the firings, one by one.
holds '[.cells[].firings[] | select(.rule == "again") | [.number, .transmission]] == [[100, 1], [100, 2]]' first.json
holds '[.cells[].firings[] | select(.rule == "list") | .number] | sort == [150, 170, 171, 172]' first.json
holds '[.cells[].firings[] | select(.rule == "segment")] | length == 1 and .[0].number <= 200001 and .[0].packet_class == "tcp-data"' first.json
holds '.cells | all(.trace_info.packets > 1000 and .trace_info.lost == 0)' first.json
holds '[.cells[] | select(.condition == "baseline") | .rules[]] == []' first.json

# The lost retransmission waited for the timer; no rule of the protocol was broken.
holds '[.recovery[].report.flows[].check | select(.checked and .violation != null)] == []' first.result
holds '[.recovery[] | select(.cell == "write/faulted/0") | .summaries[] | .by_timer] | add >= 1' first.result
holds '[.recovery[].report.time[] | .link.ns + .replay.ns + .nak_wait.ns + .timer_wait.ns + .other.ns == .window_ns] | all' first.result
[ -s trace/write-faulted-0.svg ] || fail "no ladder"
grep -q '✗ again' trace/write-faulted-0.txt || fail "the ladder does not show the loss: $(cat trace/write-faulted-0.txt)"

# tshark reads every packet, takes RoCE for RoCE, and finds nothing malformed.
for file in trace/*.pcapng; do
  tshark -r "$file" -T fields -e frame.number -e _ws.malformed -e infiniband.bth.opcode >packets 2>tshark.err || fail "tshark: $(cat tshark.err)"
  cell=$(basename "$file" .pcapng)
  [ "$(wc -l <packets)" -eq "$(jq --arg id "${cell//-//}" '.cells[] | select(.id == $id) | .trace_info.packets' first.json)" ] || fail "$file: packets are missing"
  [ -z "$(cut -f2 packets | tr -d '\n')" ] || fail "$file: malformed packets"
done
[ "$(tshark -r trace/write-faulted-0.pcapng -Y 'frame.comment contains "by rule again"' 2>/dev/null | wc -l)" -eq 2 ] || fail "no comments at faulted packets"

expect_status 0 "$RDMALAB" run rules.yaml --record second.json
[ "$(jq -S '{lab, cells}' first.json)" = "$(jq -S '{lab, cells}' second.json)" ] || fail "another run gave another Record"
