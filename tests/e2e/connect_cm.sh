#!/usr/bin/env bash
# Queue pairs that the RDMA connection manager connects, over rxe in namespaces: traffic goes as over those connected by
# hand, the rules know its packets by the PSNs that the manager chose, and the step is timed.
# shellcheck source=lib/common.bash
. tests/e2e/lib/common.bash

cat >cm.yaml <<'YAML'
version: 1
name: connect-cm
topology: {hosts: [client, server], link: {rate: 500mbit, delay: 20us}}
traffic:
  - {name: by-tcp, kind: verbs, op: send, from: client, to: server, message: 5000B, messages: 100, timeout: 10}
  - {name: by-cm, kind: verbs, op: send, connect: cm, from: client, to: server, message: 5000B, messages: 100, timeout: 10, qps: 3}
  - {name: read-cm, kind: verbs, op: read, connect: cm, from: client, to: server, message: 5000B, messages: 100, timeout: 10}
  - {name: add-cm, kind: verbs, op: fetch-add, connect: cm, from: server, to: client, messages: 100, timeout: 10}
rules:
  - {name: fifth, kind: drop, traffic: by-cm, class: data, number: 5, transmission: 1}
run: [[by-tcp], [by-cm], [read-cm, add-cm]]
measure: {warmup: 0ms, duration: 100ms, repeat: 1}
expect:
  - messages(by-cm) == 300
  - messages(read-cm) == 100
  - messages(add-cm) == 100
  - corrupt(by-cm) == 0
  - fired(fifth) == 3
  - setup(by-cm, cm) > setup(by-tcp, rts)
YAML
expect_status 0 "$RDMALAB" run cm.yaml --json --record record.json
holds '.verdict == "pass" and .problems == []' out
flow() { holds "[.cells[].flows[] | select(.traffic == \"$1\")][0] | $2" record.json; }
flow by-cm '.setup_ns | .cm > 0 and (has("rts") | not)'
flow by-tcp '.setup_ns | .rts > 0 and (has("cm") | not)'
for name in by-cm read-cm add-cm; do
  flow "$name" '.outcome == "ok" and .total_messages == .sent_messages and .corrupt_messages == 0'
done
