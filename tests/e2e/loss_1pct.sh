#!/usr/bin/env bash
# The flagship: real RoCE loses most of its throughput at 1 % loss, real TCP little of it.
# shellcheck source=lib/common.bash
. tests/e2e/lib/common.bash

expect_status 0 "$RDMALAB" run "$top/labs/loss-1pct.yaml" --json --junit j.xml --markdown m.md
holds '.version == 1 and .lab == "loss-1pct" and .verdict == "pass"' out
holds '.traffic | map(.name) == ["roce", "tcp"]' out
holds '.traffic[0].retention | .value < 0.30 and .high < 0.30 and .low > 0' out
holds '.traffic[1].retention.value >= 0.90' out
# Both baselines reach 95 % of what the link can carry of payload.
holds '.traffic | all(.limit.by == "link" and .limit.link_share >= 0.95)' out
# The dice were thrown by netem as asked, and the CPU of each part of the way was counted.
holds '.faults[0] | .requested_ppm == 10000 and .applied_ppm == 10000 and .dropped > 0 and .observed_low_ppm <= 10000 and .observed_high_ppm >= 10000' out
holds '.traffic[0].cpu | .client.rxe_ns > 0 and .server.rxe_ns > 0 and .server.softirq_ns > 0' out
holds '.traffic[1].cpu | .client.app_system_ns > 0 and .server.app_user_ns > 0 and .server.rxe_ns == 0' out
# A WRITE leaves the application at its target alone.
holds '.traffic[0].cpu.server | .app_user_ns == 0 and .app_system_ns == 0' out
holds '.traffic | all(.corrupt_messages == 0 and .checked_messages > 0)' out
holds '.environment | .engine == "vm" and .clock == "virtual"' out
grep -q '<testsuite ' j.xml || fail "no JUnit"
grep -q 'roce' m.md || fail "no Markdown"
jq -r '"wall \(.timing.wall_seconds) s, first packet \(.timing.first_packet_seconds) s after the start of its QEMU"' out
