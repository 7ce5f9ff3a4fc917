#!/usr/bin/env bash
# The same Plan gives the same Record: again, on loaded cores, from another snapshot. But another seed gives another.
# shellcheck source=lib/common.bash
. tests/e2e/lib/common.bash

short_lab >short.yaml
record() { # record NAME ARG...
  expect_status 0 "$RDMALAB" run short.yaml --record "$1.json" "${@:2}"
  jq -S '{lab, cells}' "$1.json" >"$1.measured"
}
same() { cmp -s "$1.measured" "$2.measured" || fail "Records $1 and $2 differ:"$'\n'"$(diff "$1.measured" "$2.measured" | head -20)"; }

record first
record again
same first again
for job in 1 2 3; do record "alone$job" --jobs 1 && same first "alone$job"; done

loads=()
for _ in $(seq "$(nproc)") 1; do (while :; do :; done) & loads+=($!); done
record loaded
kill "${loads[@]}"
same first loaded

cp -r "${RDMALAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rdmalab}/guest" kept
RDMALAB_CACHE=$work/cache record apart
[ -e "$(echo "$work"/cache/guest/*/snapshot)" ] || fail "no second snapshot was made"
cmp -s "$work"/cache/guest/*/snapshot kept/*/snapshot && echo "the two snapshots happen to be equal"
same first apart

record other --seed 2
! cmp -s first.measured other.measured || fail "the seed changes nothing"
