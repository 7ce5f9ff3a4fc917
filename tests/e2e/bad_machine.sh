#!/usr/bin/env bash
# A machine that can't: exit 3, the reason and the remedy; a lab that can't be: exit 2 before anything is started.
# shellcheck source=lib/common.bash
. tests/e2e/lib/common.bash

short_lab >short.yaml
mkdir empty bin

RDMALAB_KERNEL=$work/empty expect_status 3 "$RDMALAB" run short.yaml --clock virtual
grep -q 'guest kernel' err || fail "no kernel: $(cat err)"
grep -q 'hint: .*fetch-kernel' err || fail "no hint: $(cat err)"

PATH=$work/empty expect_status 3 "$RDMALAB" run short.yaml --clock virtual
grep -qi 'qemu' err || fail "no QEMU: $(cat err)"
grep -q 'hint: .*install' err || fail "no hint: $(cat err)"

printf '#!/bin/sh\necho "QEMU emulator version 7.2.0"\n' >bin/qemu-system-x86_64
cp bin/qemu-system-x86_64 bin/qemu-system-aarch64
chmod +x bin/*
PATH=$work/bin:$PATH expect_status 3 "$RDMALAB" run short.yaml --clock virtual
grep -q "don't repeat" err || fail "old QEMU: $(cat err)"

expect_status 3 "$RDMALAB" run short.yaml --engine host
grep -q 'hint: ' err || fail "no host engine: $(cat err)"

sed 's/rate: 1%/rate: 101%/' short.yaml >bad.yaml
expect_status 2 "$RDMALAB" run bad.yaml
grep -q 'bad.yaml:8:' err || fail "no line: $(cat err)"
[ "$(grep -c '^error: ' err)" -eq 1 ] || fail "not one clear message: $(cat err)"

# A cell that takes longer than the limit.
expect_status 6 "$RDMALAB" run short.yaml --timeout 1 --boot

expect_status 0 "$RDMALAB" doctor
grep -q 'guest kernel' out || fail "doctor is silent about the guest's kernel"
