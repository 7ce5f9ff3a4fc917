#!/usr/bin/env bash
# Every script that comes with rdmalab is followed by real rxe, packet by packet; a script that is not is a failure that
# names the line, and tshark finds nothing odd in the traces.
# shellcheck source=lib/common.bash
. tests/e2e/lib/common.bash
command -v tshark >/dev/null || { echo "tshark is not installed"; exit 77; }

for lab in "$top"/labs/script-*.yaml; do
  name=$(basename "$lab" .yaml)
  expect_status 0 "$RDMALAB" run "$lab" --json --trace "$name" --record "$name.json"
  holds '.verdict == "pass" and ([.recovery[].script | select(. != null) | .events[].met] | length > 0 and all)' out
  for file in "$name"/*.pcapng; do
    # RPC over RDMA is guessed from a SEND's payload, which here is made of dice.
    tshark --disable-protocol rpcordma -r "$file" >summary 2>tshark.err || fail "tshark: $(cat tshark.err)"
    grep -qi malformed summary && fail "$file: malformed packets"
  done
done
[ -s script-one-nak.json ] || fail "no script was run"

# The same script twice: the same Record.
cp script-lost-retransmit.json first.json
expect_status 0 "$RDMALAB" run "$top/labs/script-lost-retransmit.yaml" --record second.json
same() { jq -S '{lab, cells}' "$1"; }
[ "$(same first.json)" = "$(same second.json)" ] || fail "two runs of a script differ"

# What does not happen is said with the line, the packet that came before and what came instead.
sed 's/{never: nak}/{packet: nak, number: 4}/' "$top/labs/script-one-nak.yaml" >broken.yaml
line=$(grep -n 'packet: nak, number: 4' broken.yaml | head -n 1 | cut -d: -f1)
expect_status 1 "$RDMALAB" run broken.yaml
grep -q "line $line, {packet: nak, number: 4}: no packet fits after packet" out || fail "the report: $(cat out)"
