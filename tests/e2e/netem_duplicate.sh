#!/usr/bin/env bash
# Packets that netem doubles: it draws as asked, rxe knows them for what they are, and the books of a lab with a rule close
# around it.
# shellcheck source=lib/common.bash
. tests/e2e/lib/common.bash

cat >twice.yaml <<'YAML'
version: 1
name: twice
topology: {hosts: [client, server], link: {rate: 200mbit, delay: 20us}}
traffic: [{name: write, kind: verbs, op: write, from: client, to: server, message: 16KiB}]
faults: [{name: twice, where: {from: client, to: server}, kind: duplicate, rate: 2%}]
rules: [{name: late, kind: mark, traffic: write, class: data, number: 500, transmission: 1}]
measure: {warmup: 0ms, duration: 200ms, repeat: 1}
expect:
  - observed(twice) > 1%
  - observed(twice) < 4%
  - fired(late) == 1
  - counter(server, duplicate_request, write) > 0
  - corrupt(write) == 0
YAML
expect_status 0 "$RDMALAB" run twice.yaml --json
holds '.verdict == "pass" and .problems == []' out
