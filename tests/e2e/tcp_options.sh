#!/usr/bin/env bash
# TCP with a depth and with MSG_ZEROCOPY, in a real guest: every message arrives whole, answered ones take a round trip
# each, and what the kernel says of its copies is told.
# shellcheck source=lib/common.bash
. tests/e2e/lib/common.bash

cat >tcp.yaml <<'YAML'
version: 1
name: tcp-options
topology: {hosts: [client, server], link: {rate: 500mbit, delay: 20us}}
traffic:
  - {name: stream, kind: tcp, from: client, to: server, message: 4KiB}
  - {name: ask, kind: tcp, from: client, to: server, message: 4KiB, depth: 1}
  - {name: deep, kind: tcp, from: client, to: server, message: 1KiB, depth: 8, streams: 2}
  - {name: roce, kind: verbs, op: send, from: client, to: server, message: 4KiB, depth: 1}
  - {name: zero, kind: tcp, from: client, to: server, zerocopy: on}
  - {name: zero-ask, kind: tcp, from: client, to: server, depth: 1, zerocopy: on}
run: [[stream], [ask], [deep, roce], [zero, zero-ask]]
measure: {warmup: 10ms, duration: 50ms, repeat: 1}
expect:
  - latency(ask, p50) < latency(stream, p50)
  - goodput(ask) < goodput(stream)
  # 50 ms hold at most 1250 round trips of 40 us; a message of 4 KiB is 72 us on the link.
  - messages(ask) <= 750
  - messages(ask) >= 100
  - latency(ask, p50) >= 90us
  - setup(roce, rts) > 0ns
  - setup(roce, register) < 10ms
YAML
expect_status 0 "$RDMALAB" run tcp.yaml --json --record record.json
holds '.verdict == "pass" and .problems == []' out
holds '[.traffic[] | select(.name == "roce")][0].setup_ns | .register > 0 and .qp > 0 and .exchange > 0 and .rts > 0' out
flow() { holds "[.cells[].flows[] | select(.traffic == \"$1\")][0] | $2" record.json; }
for name in stream ask deep zero zero-ask; do
  flow "$name" '.outcome == "ok" and .messages > 0 and .checked_messages == .total_messages and .corrupt_messages == 0'
done
flow stream '.tcp_info | has("zerocopy_sends") | not'
# A veth's receiver would read from the sender's pages, so the kernel copies.
for name in zero zero-ask; do
  flow "$name" '.tcp_info.zerocopy_sends >= .total_messages and .tcp_info.zerocopy_copied == .tcp_info.zerocopy_sends'
done
