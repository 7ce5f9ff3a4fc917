#include "analysis/claims.h"

#include "analysis/expectations.h"

#include <string_view>

namespace rdmalab::analysis {
namespace {

ClaimVerdict verdict_of_claim(Verdict verdict)
{
  switch (verdict) {
  case Verdict::pass:
    return ClaimVerdict::confirmed;
  case Verdict::fail:
    return ClaimVerdict::contradicted;
  case Verdict::inconclusive:
  case Verdict::invalid:
    break;
  }
  return ClaimVerdict::open;
}

/// Both sides where the comparison does not hold, as its reason has them.
std::string measured_words(const ExpectationResult& found)
{
  constexpr std::string_view prefix = "measured ";
  if (found.reason.starts_with(prefix)) return found.reason.substr(prefix.size());
  return found.measured.empty() ? found.reason : found.measured;
}

} // namespace

std::vector<ClaimResult> judge_claims(const record::Record& record, const Result& result)
{
  std::vector<ClaimResult> all;
  for (const lab::Claim& claim : record.lab.claims) {
    ClaimResult judged{claim.claim, claim.where,  claim.holds, ClaimVerdict::unmeasured,
                       {},          claim.because};
    if (!claim.holds.empty()) {
      const ExpectationResult found =
          judge_comparison(record, result, {claim.holds, claim.line, claim.column});
      judged.verdict = verdict_of_claim(found.verdict);
      judged.measured = measured_words(found);
    }
    all.push_back(std::move(judged));
  }
  return all;
}

std::string claim_words(ClaimVerdict verdict)
{
  switch (verdict) {
  case ClaimVerdict::confirmed:
    return "confirmed";
  case ClaimVerdict::contradicted:
    return "contradicted";
  case ClaimVerdict::open:
    return "left open";
  case ClaimVerdict::unmeasured:
    break;
  }
  return "not measurable here";
}

} // namespace rdmalab::analysis
