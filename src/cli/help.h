#pragma once

namespace rdmalab::cli {

/// The exit codes of base/result.h for `--help` and `explain exit-codes`; docs/exit-codes.md tells
/// more.
inline constexpr const char* exit_code_table =
    R"(  0    all expectations met
  1    an expectation failed
  2    usage, or a lab file that says something wrong
  3    this environment can't run it
  4    set-up failed, or a fault read back or observed different
  5    traffic broke unexpectedly
  6    timeout
  7    guest panic or kernel splat
  8    inconclusive, under --strict
  77   skipped
  130  interrupted)";

inline constexpr const char* examples =
    R"(  rdmalab list                             the labs that come along
  rdmalab validate labs/loss-1pct.yaml     is the file right?
  rdmalab plan labs/loss-1pct.yaml --tc    what would be done, as ip, tc and rdma lines
  rdmalab run labs/loss-1pct.yaml          do it, print the figures
  rdmalab explain go-back-n                what is behind them)";

} // namespace rdmalab::cli
