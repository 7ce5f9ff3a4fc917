#!/usr/bin/env bash
# The host engine: this kernel can't, so it runs where it can, inside a guest. rdmalab is the program that a lab of kind
# command runs there; it probes that kernel, builds its own fabric in it, measures on the real clock, and leaves nothing.
# shellcheck source=lib/common.bash
. tests/e2e/lib/common.bash

short_lab >inner.yaml
cat >outer.yaml <<YAML
version: 1
name: outer
topology: {hosts: [client, server]}
traffic:
  - {name: doctor, kind: command, from: client, to: server, client: "$RDMALAB doctor --json"}
  - name: run
    kind: command
    from: client
    to: server
    files: [$work/inner.yaml]
    client: "$RDMALAB run --engine host --json --quiet /files/inner.yaml"
  - {name: gc, kind: command, from: client, to: server, client: "$RDMALAB gc"}
run: [[doctor], [run, gc]]
measure: {warmup: 0ms, duration: 20s, repeat: 1}
YAML
expect_status 0 "$RDMALAB" run outer.yaml --clock virtual --record outer.json --json

jq -r '.cells[].flows[] | select(.traffic == "doctor") | .output.client' outer.json >doctor.json
jq -e '.host_engine and (.host | all(.ok or (.name | endswith("(wanted)"))))' doctor.json >/dev/null ||
  fail "the guest's kernel can't: $(jq -c '.host' doctor.json)"

jq -r '.cells[].flows[] | select(.traffic == "run") | .output.client' outer.json | sed -n '/^{/,$p' >inner.json # without what went to stderr
jq -e '.environment.engine == "host" and .environment.clock == "real" and .problems == []' inner.json >/dev/null ||
  fail "no valid run: $(head -c 2000 inner.json)"
jq -e '.traffic | all(.baseline.goodput_bps > 0 and .faulted.goodput_bps > 0)' inner.json >/dev/null || fail "no goodput"
