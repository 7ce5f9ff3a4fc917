#!/usr/bin/env bash
# Verbs used wrongly, receives that run out, and traffics of a fixed number of messages, on real rxe: each ends as the lab
# says, and one that doesn't breaks the run.
# shellcheck source=lib/common.bash
. tests/e2e/lib/common.bash

cat >mistakes.yaml <<'YAML'
version: 1
name: mistakes
hypothesis: Each wrong use of verbs ends in a way of its own, and rxe tells which.
topology: {hosts: [client, server], link: {rate: 1gbit, delay: 20us}}
traffic:
  - {name: right, kind: verbs, op: write, from: client, to: server, message: 4KiB, messages: 100, depth: 4}
  - {name: right-send, kind: verbs, op: send, from: client, to: server, message: 4KiB, messages: 101, depth: 16, qps: 2}
  - {name: rkey, kind: verbs, op: write, from: client, to: server, message: 4KiB, messages: 3, mistake: wrong-rkey, ends: IBV_WC_REM_ACCESS_ERR}
  - {name: rkey-read, kind: verbs, op: read, from: client, to: server, message: 4KiB, messages: 3, mistake: wrong-rkey, ends: IBV_WC_REM_ACCESS_ERR}
  - {name: access, kind: verbs, op: write, from: client, to: server, message: 4KiB, messages: 3, mistake: no-remote-access, ends: IBV_WC_REM_ACCESS_ERR}
  - {name: qp-access, kind: verbs, op: read, from: client, to: server, message: 4KiB, messages: 3, mistake: qp-no-access, ends: IBV_WC_REM_INV_REQ_ERR}
  - {name: dereg, kind: verbs, op: write, from: client, to: server, message: 4KiB, messages: 3, mistake: deregistered, ends: IBV_WC_REM_ACCESS_ERR}
  - {name: bounds, kind: verbs, op: write, from: client, to: server, message: 4KiB, messages: 3, mistake: out-of-bounds, ends: IBV_WC_REM_ACCESS_ERR}
  # rxe's requester fails, but its completer flushes that work request with the others (rxe_comp.c).
  - {name: lkey, kind: verbs, op: write, from: client, to: server, message: 4KiB, messages: 3, mistake: not-registered, ends: IBV_WC_WR_FLUSH_ERR}
  - {name: lkey-read, kind: verbs, op: read, from: client, to: server, message: 4KiB, messages: 3, mistake: not-registered, ends: IBV_WC_LOC_PROT_ERR}
  # The InfiniBand specification wants an invalid request NAK here; rxe answers with a remote operational error.
  - {name: long, kind: verbs, op: send, from: client, to: server, message: 4KiB, messages: 3, mistake: long-send, ends: IBV_WC_REM_OP_ERR}
  - {name: reset, kind: verbs, op: write, from: client, to: server, message: 4KiB, messages: 3, mistake: qp-reset, ends: post}
  - {name: init, kind: verbs, op: write, from: client, to: server, message: 4KiB, messages: 3, mistake: qp-init, ends: post}
  - {name: rtr, kind: verbs, op: write, from: client, to: server, message: 4KiB, messages: 3, mistake: qp-rtr, ends: post}
  - {name: error, kind: verbs, op: write, from: client, to: server, message: 4KiB, messages: 3, mistake: qp-error, ends: IBV_WC_WR_FLUSH_ERR}
  - {name: stranger, kind: verbs, op: write, from: client, to: server, message: 4KiB, messages: 3, mistake: no-exchange, ends: connect}
  - {name: starved, kind: verbs, op: send, from: client, to: server, message: 4KiB, messages: 3, receives: 0, replenish: never, rnr_retry: 2, min_rnr_timer: 8, ends: IBV_WC_RNR_RETRY_EXC_ERR}
  - {name: late, kind: verbs, op: send, from: client, to: server, message: 4KiB, messages: 40, depth: 4, receives: 5, replenish: 1ms, rnr_retry: 7}
run:
  - [right]
  - [right-send]
  - [rkey, rkey-read, access]
  - [qp-access, dereg, bounds]
  - [lkey, lkey-read, long]
  - [reset, init, rtr, error]
  - [stranger]
  - [starved]
  - [late]
measure: {warmup: 0ms, duration: 100ms, repeat: 1}
expect:
  - messages(right) == 100
  - messages(right-send) == 202
  - messages(late) == 40
  - messages(rkey) == 0
  - completions(right, IBV_WC_SUCCESS) == 100
  - completions(rkey, IBV_WC_REM_ACCESS_ERR) == 1
  - completions(rkey, IBV_WC_WR_FLUSH_ERR) == 2
  - completions(starved, IBV_WC_RNR_RETRY_EXC_ERR) == 1
  - counter(server, send_rnr_err, late) > 0
YAML
expect_status 0 "$RDMALAB" run mistakes.yaml --json --record record.json
holds '.verdict == "pass" and .problems == []' out
holds '.traffic[] | select(.name == "rkey") | .broke == [] and (.ended | length) == 1' out

# How each ended stands in the Record, with both ends' QP states.
flow() { holds "[.cells[].flows[] | select(.traffic == \"$1\")][0] | $2" record.json; }
flow right '.failed_step == "" and .qp_states == {"client 0": "RTS", "server 0": "RTS"} and .checked_messages > 0'
flow rkey '.failed_step == "completion" and .qp_states["client 0"] == "ERR"'
flow reset '.failed_step == "post" and .failure == "EINVAL" and .qp_states["client 0"] == "RESET"'
flow init '.qp_states["client 0"] == "INIT"'
flow rtr '.qp_states["client 0"] == "RTR"'
flow stranger '.failed_step == "connect" and .completions == {} and .qp_states["server 0"] == "RESET"'
flow starved '.qp_states == {"client 0": "ERR", "server 0": "RTS"}'

# The same mistake with another end expected: the traffic broke, and the message says both.
cat >other.yaml <<'YAML'
version: 1
name: other
topology: {hosts: [client, server]}
traffic:
  - {name: rkey, kind: verbs, from: client, to: server, message: 4KiB, messages: 3, mistake: wrong-rkey, ends: IBV_WC_RETRY_EXC_ERR}
measure: {warmup: 0ms, duration: 20ms, repeat: 1}
YAML
expect_status 5 "$RDMALAB" run other.yaml --json
holds '.problems[0] | contains("it was to end with IBV_WC_RETRY_EXC_ERR, and ended with write completion 0: IBV_WC_REM_ACCESS_ERR")' out

# Without a mistake, `ends` is meant for the faulted condition: a rule that drops everything exceeds the retries.
cat >dead.yaml <<'YAML'
version: 1
name: dead
topology: {hosts: [client, server]}
traffic:
  - {name: dead, kind: verbs, from: client, to: server, message: 4KiB, messages: 50, timeout: 8, retry_count: 2, ends: IBV_WC_RETRY_EXC_ERR}
rules:
  - {name: wall, kind: drop, traffic: dead, class: data, number: 20..}
measure: {warmup: 0ms, duration: 100ms, repeat: 1}
expect:
  - messages(dead, baseline) == 50
  - messages(dead) < 50
  - completions(dead, IBV_WC_RETRY_EXC_ERR) == 1
YAML
expect_status 0 "$RDMALAB" run dead.yaml --json
holds '.verdict == "pass" and (.traffic[0].ended | length) == 1' out
