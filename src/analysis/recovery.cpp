#include "analysis/recovery.h"

#include "analysis/recovery_summary.h"
#include "analysis/recovery_walk.h"
#include "analysis/timeline.h"
#include "analysis/wire_time.h"
#include "analysis/words.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::analysis {
namespace {

/// Everything that is said of one trace, while it is put together.
class RecoveryAnalysis {
public:
  RecoveryAnalysis(const wire::Trace& trace, const TraceFlows& flows, const Timelines& timelines)
      : trace_(trace), flows_(flows), timelines_(timelines)
  {}

  RecoveryReport run()
  {
    if (trace_.lost > 0)
      report_.problems.push_back(fmt::format(
          "{} records found no room in the trace's buffer: a packet that seems lost may have "
          "arrived, and the protocol is not checked",
          count_words(trace_.lost)));
    for (const std::string& p : timelines_.problems) report_.problems.push_back(p);
    for (std::size_t i = 0; i < flows_.verbs.size(); ++i) verbs(flows_.verbs[i], i);
    for (std::size_t i = 0; i < flows_.tcp.size(); ++i) tcp(flows_.tcp[i], i);
    times();
    for (FlowRecovery& f : report_.flows) {
      const FlowRecovery* const one = &f;
      f.figures = summarise(std::span(&one, 1));
    }
    report_.traffic = summarise(report_);
    return std::move(report_);
  }

private:
  void verbs(const VerbsFlow& flow, std::size_t index)
  {
    const Timeline& timeline = timelines_.verbs[index];
    auto& again = verbs_again_.emplace_back(timeline.passages.size());
    for (const bool initiator_asks : {true, false}) {
      FlowHistory h = follow_verbs(trace_, flows_, flow, timeline, initiator_asks);
      if (h.empty) continue;
      if (trace_.lost > 0)
        h.recovery.check.reason = "the trace lost records";
      else if (timeline.strangers > 0)
        h.recovery.check.reason =
            fmt::format("{} packets arrived that were not seen entering", timeline.strangers);
      else if (flow.path_mtu == 0)
        h.recovery.check.reason = "the path MTU is unknown, so the PSNs of a READ are, too";
      else
        h.recovery.check = check_protocol(timeline, flow, initiator_asks);
      take(std::move(h), flow.traffic, fmt::format("QP {}", flow.qp), again);
    }
    strangers(timeline, flow.traffic, fmt::format("QP {}", flow.qp));
  }

  void tcp(const TcpFlow& flow, std::size_t index)
  {
    const Timeline& timeline = timelines_.tcp[index];
    auto& again = tcp_again_.emplace_back(timeline.passages.size());
    for (const bool from_client : {true, false}) {
      FlowHistory h = follow_tcp(trace_, flows_, flow, timeline, from_client);
      if (!h.empty) take(std::move(h), flow.traffic, fmt::format("stream {}", flow.stream), again);
    }
    strangers(timeline, flow.traffic, fmt::format("stream {}", flow.stream));
  }

  void take(FlowHistory h, const std::string& traffic, const std::string& flow,
            std::vector<bool>& again)
  {
    for (std::size_t i = 0; i < again.size(); ++i)
      if (h.again[i]) again[i] = true;
    auto& waits = waits_[traffic];
    waits.insert(waits.end(), h.waits.begin(), h.waits.end());
    if (!h.recovery.from_start)
      report_.problems.push_back(fmt::format(
          "the trace begins in the middle of {}'s {} from {}: what was lost before is not in it",
          traffic, flow, h.recovery.sender));
    report_.flows.push_back(std::move(h.recovery));
  }

  void strangers(const Timeline& timeline, const std::string& traffic, const std::string& flow)
  {
    if (timeline.strangers > 0)
      report_.problems.push_back(
          fmt::format("{} packets of {}'s {} arrived that were not seen entering",
                      count_words(timeline.strangers), traffic, flow));
  }

  void times()
  {
    auto spans = wire_spans(trace_, flows_, timelines_, verbs_again_, tcp_again_);
    std::vector<std::string> names;
    const auto name = [&](const std::string& traffic) {
      if (std::ranges::find(names, traffic) == names.end()) names.push_back(traffic);
    };
    for (const VerbsFlow& f : flows_.verbs) name(f.traffic);
    for (const TcpFlow& f : flows_.tcp) name(f.traffic);
    for (const std::string& traffic : names) {
      auto& all = spans[traffic];
      const auto& waits = waits_[traffic];
      all.insert(all.end(), waits.begin(), waits.end());
      report_.time.push_back(split_window(traffic, all, flows_.begin_ns, flows_.end_ns));
    }
  }

  const wire::Trace& trace_;
  const TraceFlows& flows_;
  const Timelines& timelines_;
  RecoveryReport report_;
  std::vector<std::vector<bool>> verbs_again_; ///< by flow and passage
  std::vector<std::vector<bool>> tcp_again_;
  std::map<std::string, std::vector<StateSpan>> waits_; ///< by traffic
};

} // namespace

RecoveryReport analyse_recovery(const wire::Trace& trace, const TraceFlows& flows)
{
  return analyse_recovery(trace, flows, sort_trace(trace, flows));
}

RecoveryReport analyse_recovery(const wire::Trace& trace, const TraceFlows& flows,
                                const Timelines& timelines)
{
  return RecoveryAnalysis(trace, flows, timelines).run();
}

} // namespace rdmalab::analysis
