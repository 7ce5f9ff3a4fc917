#!/usr/bin/env bash
# Nothing is left: no guest after Ctrl-C, none after SIGKILL, no folder once `gc` ran.
# shellcheck source=lib/common.bash
. tests/e2e/lib/common.bash

export TMPDIR=$work/tmp
mkdir "$TMPDIR"
short_lab | sed 's/duration: 100ms, repeat: 1/duration: 20s, repeat: 1/' >long.yaml
guests_of() { pgrep -g "$1" -f 'rdmalab,debug-threads' || true; }

start() { # a run whose guests are at work; sets run and guests
  "$RDMALAB" run long.yaml >/dev/null 2>err &
  run=$!
  guests=
  for _ in $(seq 1200); do
    guests=$(pgrep -P "$run" || true)
    if [ -n "$guests" ] && [ -n "$(ls -A "$TMPDIR")" ]; then sleep 1; return; fi
    kill -0 "$run" 2>/dev/null || fail "the run ended by itself: $(cat err)"
    sleep 0.1
  done
  fail "no guest was started"
}
gone() { # all of them, within ten seconds
  for _ in $(seq 100); do
    local alive=0
    for guest in $guests; do if kill -0 "$guest" 2>/dev/null; then alive=1; fi; done
    [ "$alive" -eq 0 ] && return
    sleep 0.1
  done
  fail "a guest outlives its run"
}

start
kill -INT "$run"
status=0
wait "$run" || status=$?
[ "$status" -eq 130 ] || fail "Ctrl-C: exit $status, not 130"
gone
[ -z "$(ls -A "$TMPDIR")" ] || fail "Ctrl-C leaves $(ls "$TMPDIR")"

start
kill -KILL "$run"
wait "$run" 2>/dev/null || true
gone
expect_status 0 "$RDMALAB" gc
[ -z "$(ls -A "$TMPDIR")" ] || fail "gc leaves $(ls "$TMPDIR")"
expect_status 0 "$RDMALAB" gc
grep -q 'nothing left behind' out || fail "a second gc finds something"
