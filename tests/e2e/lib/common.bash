# What the end-to-end tests share. Each runs the program that was built, $RDMALAB, in a folder of its own.
set -euo pipefail
: "${RDMALAB:?path of the program under test}"
top=$(pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "FAILED: $*" >&2; exit 1; }

# expect_status STATUS COMMAND ARG...: its stdout and stderr stay in out and err.
expect_status() {
  local wanted=$1 status=0
  shift
  "$@" >out 2>err || status=$?
  [ "$status" -eq "$wanted" ] || fail "exit $status, not $wanted: $*"$'\n'"$(tail -n 20 err)"
}

# value EXPRESSION FILE: a figure of a JSON document, by jq.
value() { jq -er "$1" "$2" || fail "no $1 in $2"; }

# holds EXPRESSION FILE: a condition on a JSON document.
holds() { jq -e "$1" "$2" >/dev/null || fail "not so: $1"$'\n'"$(jq -c '{verdict, problems, expectations}' "$2")"; }

# A lab of few, short cells, for tests that are about something else than its figures.
short_lab() {
  cat <<YAML
version: 1
name: short
topology: {hosts: [client, server], link: {rate: 100mbit, delay: 20us}}
traffic:
  - {name: roce, kind: verbs, op: write, from: client, to: server, message: 16KiB, timeout: 10}
  - {name: tcp, kind: tcp, from: client, to: server, message: 16KiB}
faults:
  - {name: loss, where: {from: client, to: server}, kind: loss, rate: 1%}
measure: {warmup: 20ms, duration: 100ms, repeat: 1}
YAML
}
