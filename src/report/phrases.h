#pragma once

#include "analysis/result.h"

#include <optional>
#include <string>

/// Pieces of wording that several formats share.
namespace rdmalab::report {

std::string verdict_word(analysis::Verdict verdict);

/// "28 %", "97 %", but "99.7 %" and "0.4 %": as many digits as a sentence needs.
std::string percent(double share);
/// "28.1 % (27.3 … 29 %)", or without the interval where there is none.
std::string retention_words(const analysis::Retention& retention);
/// "236 Mb/s"; "-" for what was not measured.
std::string goodput_words(const std::optional<analysis::ConditionResult>& condition);
/// "12.3 us", "20", "236 Mb/s", with the interval where there is one; "-" for what is not there.
std::string program_figure_words(const std::string& unit,
                                 const std::optional<analysis::FigureResult>& figure);
/// Whether the traffic stands in the table of throughputs. A program that tells a time or a count
/// does not: it is in that of figures.
bool shows_throughput(const analysis::TrafficResult& traffic);
/// ppm as a percentage: "1 %", "1.002 %".
std::string ppm_words(std::optional<std::uint64_t> ppm);
/// "the link: 99 % of the link's payload rate, 948 Mb/s, core 50 % busy".
std::string limit_words(const analysis::Limit& limit);
/// "vm engine, virtual clock, tcg, kernel 7.3.4, QEMU 10.0.2, rdmalab 0.1.0".
std::string environment_words(const record::Environment& environment);
/// "48.1 s, first packet after 9.2 s".
std::string timing_words(const record::Timing& timing);
/// "CPU-s/GiB", or "Ginstr/GiB" where instructions were counted.
std::string cpu_cost_unit(const record::Environment& environment);

} // namespace rdmalab::report
