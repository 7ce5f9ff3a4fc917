#include "analysis/claims.h"

#include "analysis/expectations.h"

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
      judged.measured = found.measured.empty() ? found.reason : found.measured;
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
