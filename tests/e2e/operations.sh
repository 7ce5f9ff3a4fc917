#!/usr/bin/env bash
# Every operation over every transport that has it, inline and not, with an SRQ and without, on real rxe: all messages
# arrive, each byte, counter and immediate value is right, and what is lost of an unreliable transport is just that.
# shellcheck source=lib/common.bash
. tests/e2e/lib/common.bash

traffic() { echo "  - {name: $1, kind: verbs, from: client, to: server, $2}"; }
{
  cat <<'YAML'
version: 1
name: operations
topology: {hosts: [client, server], link: {rate: 1gbit, delay: 20us}}
traffic:
YAML
  traffic send 'op: send, message: 5000B, messages: 200, qps: 2'
  traffic send-imm 'op: send-imm, message: 5000B, messages: 200, qps: 2'
  traffic write 'op: write, message: 5000B, messages: 200, qps: 2'
  traffic write-imm 'op: write-imm, message: 5000B, messages: 200, qps: 2'
  traffic write-notify 'op: write-notify, message: 5000B, messages: 200, qps: 2'
  traffic read 'op: read, message: 5000B, messages: 200, qps: 2'
  traffic fetch-add 'op: fetch-add, messages: 200, qps: 2'
  traffic compare-swap 'op: compare-swap, message: 8B, messages: 200, qps: 2'
  traffic inline-send 'op: send, message: 200B, messages: 200, inline: on'
  traffic inline-write-imm 'op: write-imm, message: 400B, messages: 200, inline: on'
  traffic uc-send 'op: send, transport: uc, message: 5000B, messages: 100, receives: 100'
  traffic uc-send-imm 'op: send-imm, transport: uc, message: 5000B, messages: 100, inline: off, receives: 100'
  traffic uc-write-imm 'op: write-imm, transport: uc, message: 5000B, messages: 100, receives: 100'
  traffic ud-send 'op: send, transport: ud, message: 1000B, messages: 100, receives: 100'
  traffic ud-send-imm 'op: send-imm, transport: ud, message: 1KiB, messages: 100, qps: 2, receives: 100'
  traffic srq-send 'op: send, srq: on, message: 5000B, messages: 100, qps: 4'
  traffic srq-write-imm 'op: write-imm, srq: on, message: 5000B, messages: 100, qps: 4'
  traffic srq-notify 'op: write-notify, srq: on, message: 5000B, messages: 100, qps: 4'
  traffic srq-ud 'op: send, srq: on, transport: ud, message: 1000B, messages: 100, qps: 4, receives: 400'
  traffic srq-late 'op: send, srq: on, message: 1000B, messages: 50, qps: 2, receives: 8, replenish: 500us, rnr_retry: 7'
  # librxe refuses it before rxe could answer with an invalid request NAK.
  traffic misaligned 'op: fetch-add, messages: 3, mistake: misaligned-atomic, ends: post'
  traffic atomic-key 'op: compare-swap, messages: 3, mistake: wrong-rkey, ends: IBV_WC_REM_ACCESS_ERR'
  traffic notify-key 'op: write-notify, message: 4KiB, messages: 3, mistake: wrong-rkey, ends: IBV_WC_REM_ACCESS_ERR'
  cat <<'YAML'
run:
  - [send, send-imm, write]
  - [write-imm, write-notify, read]
  - [fetch-add, compare-swap, inline-send, inline-write-imm]
  - [uc-send, uc-send-imm, uc-write-imm]
  - [ud-send, ud-send-imm, srq-ud]
  - [srq-send, srq-write-imm]
  - [srq-notify, srq-late]
  - [misaligned, atomic-key, notify-key]
measure: {warmup: 0ms, duration: 200ms, repeat: 1}
YAML
} >operations.yaml
expect_status 0 "$RDMALAB" run operations.yaml --json --record record.json
flow() { holds "[.cells[].flows[] | select(.traffic == \"$1\")][0] | $2" record.json; }
whole='.outcome == "ok" and .total_messages == .sent_messages and .checked_messages > 0 and .corrupt_messages == 0'
for name in send send-imm write write-imm write-notify read fetch-add compare-swap; do
  flow "$name" "$whole and .total_messages == 400"
done
for name in inline-send inline-write-imm; do flow "$name" "$whole and .total_messages == 200"; done
for name in srq-send srq-write-imm srq-notify srq-ud; do flow "$name" "$whole and .total_messages == 400"; done
flow srq-late "$whole and .total_messages == 100"
for name in uc-send uc-send-imm uc-write-imm ud-send; do flow "$name" "$whole and .total_messages == 100"; done
flow ud-send-imm "$whole and .total_messages == 200"
flow fetch-add '.checked_messages == 400'
flow send '.setup_ns | .register > 0 and .qp > 0 and .exchange > 0 and .rts > 0'

# Where packets are lost, so are messages, and nobody sends them again.
cat >lost.yaml <<'YAML'
version: 1
name: lost
topology: {hosts: [client, server], link: {rate: 200mbit, delay: 20us}}
traffic:
  - {name: uc, kind: verbs, op: send, transport: uc, from: client, to: server, message: 4KiB, messages: 100, receives: 100}
  - {name: uc-write, kind: verbs, op: write-imm, transport: uc, from: client, to: server, message: 4KiB, messages: 100, receives: 100}
  - {name: ud, kind: verbs, op: send, transport: ud, from: client, to: server, message: 1KiB, messages: 100, receives: 100}
rules:
  - {name: middle, kind: drop, traffic: uc, class: data, number: 41}
  - {name: middle-write, kind: drop, traffic: uc-write, class: data, position: middle, number: 41}
  - {name: datagram, kind: drop, traffic: ud, class: data, number: 10..12}
measure: {warmup: 0ms, duration: 100ms, repeat: 1}
expect:
  - messages(uc, baseline) == 100
  - messages(ud, baseline) == 100
  - messages(ud) == 97
  - messages(uc) < 100
  - messages(uc) >= 98
  - messages(uc-write) < 100
  - messages(uc-write) >= 10
  - corrupt(uc) == 0
  - corrupt(uc-write) == 0
  - corrupt(ud) == 0
YAML
expect_status 0 "$RDMALAB" run lost.yaml --json --record record.json
holds '.verdict == "pass" and .problems == []' out
# rxe throws away the message that has the gap, and the one that begins while the old one is unfinished (class D1).
flow_in() { holds "[.cells[] | select(.condition == \"faulted\") | .flows[] | select(.traffic == \"$1\")][0] | $2" record.json; }
flow_in uc '.outcome == "ok" and .sent_messages == 100'

# What registering memory costs, by size.
cat >register.yaml <<'YAML'
version: 1
name: register
topology: {hosts: [client, server]}
traffic:
  - {name: small, kind: verbs, op: register, from: client, to: server, message: 4KiB, messages: 50}
  - {name: large, kind: verbs, op: register, from: client, to: server, message: 4MiB, depth: 1}
measure: {warmup: 0ms, duration: 50ms, repeat: 1}
expect:
  - messages(small) == 50
  - latency(large, p50) > 3 * latency(small, p50)
YAML
expect_status 0 "$RDMALAB" run register.yaml --json
holds '.verdict == "pass" and .problems == []' out
