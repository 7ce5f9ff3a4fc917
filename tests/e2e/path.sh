#!/usr/bin/env bash
# The ordinary path, counted: lesson 2 holds, all of it can be seen in the guest's kernel, two runs agree, and asking for it
# costs no goodput.
# shellcheck source=lib/common.bash
. tests/e2e/lib/common.bash

expect_status 0 "$RDMALAB" run "$top/labs/lesson-2-shortcuts.yaml" --json
cp out first
holds '.verdict == "pass" and .path.missing == []' out
# Each host's stages are all of its CPU time, each of the ten is known, and the scheduler agrees.
holds '[.path.traffic[].hosts[].stage_percent] | all(length == 10 and (add - 100 | fabs) < 0.5)' out
holds '[.path.traffic[].hosts[].against_scheduler // 1] | all((. - 1 | fabs) < 0.05)' out
holds '.path.traffic | map(.transport) == ["tcp", "rdma write", "rdma send"]' out
# What a message takes: TCP copies once at each end, a WRITE in rxe at each end, and none calls into the kernel at its target.
holds '.path.traffic | all(.hosts | all(.copied > 0.95 and .copied < 1.1))' out
holds '.path.traffic[1].hosts | map(select(.host == "server"))[0].syscalls_all == 0' out
holds '.path.traffic[0].hosts | all(.checksums == 0 and .stage_ns.rxe == 0)' out

expect_status 0 "$RDMALAB" run "$top/labs/lesson-2-shortcuts.yaml" --json
[ "$(jq -r .record_digest out)" = "$(jq -r .record_digest first)" ] || fail "two runs differ"

# Nobody pays for it in goodput: where the core is the limit, and each message is little work, the same lab without the
# ledger is as fast. In cells of its own it does cost something, and the report says how much.
for path in off on; do
  cat >"$path.yaml" <<YAML
version: 1
name: core
topology: {hosts: [client, server], link: {delay: 20us, mtu: 4200}}
traffic:
  - {name: write-256, kind: verbs, op: write, from: client, to: server, message: 256B}
  - {name: write-64k, kind: verbs, op: write, from: client, to: server, message: 64KiB}
  - {name: tcp-256, kind: tcp, from: client, to: server, message: 256B}
  - {name: tcp-64k, kind: tcp, from: client, to: server, message: 64KiB}
measure: {warmup: 50ms, duration: 200ms, repeat: 2, path: $path}
YAML
  expect_status 0 "$RDMALAB" run "$path.yaml" --json
  cp out "$path.json"
done
jq -e -n --slurpfile off off.json --slurpfile on on.json \
  '[range(4)] | all($on[0].traffic[.].baseline.goodput_bps >= 0.90 * $off[0].traffic[.].baseline.goodput_bps)' >/dev/null ||
  fail "asking for the path costs more than a tenth of goodput"
# What is told as the cost is what was measured; for large messages it is at most a tenth of goodput.
holds '.path.traffic | all(.traced_goodput_bps < .goodput_bps)' on.json
holds '[.path.traffic[] | select(.message_bytes == 65536)] | length == 2 and all(.traced_goodput_bps >= 0.90 * .goodput_bps)' on.json
holds '[.path.traffic[].hosts[] | select(.cpu_ns > 0)] | length == 8 and all(.traced_ns > .cpu_ns)' on.json
