#include "lab/expression.h"
#include "lab/sections.h"
#include "lab/sentence.h"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::lab {
namespace {

/// Where a text begins: behind its quote, if it has one.
int text_column(const Node& node)
{
  return node.column + (node.quoted ? 1 : 0);
}

void check_comparison(const Node& node, const Lab& lab, bool rest_is_good, Diagnostics& out)
{
  const ParsedExpression parsed = parse_expression(node.text, lab);
  auto problems = parsed.problems;
  if (parsed.comparison && rest_is_good) problems = check_expression(*parsed.comparison, lab);
  for (const Problem& problem : problems)
    out.add(node.line, text_column(node) + problem.column - 1, problem.message, problem.hint);
}

} // namespace

void read_expectations(const Node& node, Lab& lab, bool rest_is_good, Diagnostics& out)
{
  if (!node.sequence()) {
    out.add(node, fmt::format("expect is a list, not {}", describe(node)),
            "for example - retention(tcp) >= 90%");
    return;
  }
  for (const Node& item : node.items) {
    if (!item.scalar()) {
      out.add(item, fmt::format("an expectation is a comparison, not {}", describe(item)),
              "for example - retention(tcp) >= 90%");
      continue;
    }
    lab.expect.push_back({item.text, item.line, text_column(item)});
    check_comparison(item, lab, rest_is_good, out);
  }
}

void read_claims(const Node& node, Lab& lab, bool rest_is_good, Diagnostics& out)
{
  if (!node.sequence()) {
    out.add(node, fmt::format("claims is a list, not {}", describe(node)),
            "for example - {claim: TCP degrades gracefully, where: lesson 5, holds: "
            "retention(tcp) > 90%}");
    return;
  }
  for (const Node& item : node.items) {
    Reader reader(item, claim_table(), out);
    Claim claim;
    reader.into("claim", claim.claim);
    reader.into("where", claim.where);
    reader.into("holds", claim.holds);
    reader.into("because", claim.because);
    const Node& place = reader.place("holds");
    claim.line = place.line;
    claim.column = text_column(place);
    if (reader.has("holds") && place.scalar())
      check_comparison(place, lab, rest_is_good, out);
    else if (claim.because.empty() && item.mapping())
      out.add(item, "nothing is said of how this claim is judged",
              "holds: a comparison, or because: why nothing here can measure it");
    lab.claims.push_back(std::move(claim));
  }
}

void read_conclusion(const Node& node, Lab& lab, bool rest_is_good, Diagnostics& out)
{
  if (!node.sequence()) {
    out.add(node, fmt::format("conclusion is a list, not {}", describe(node)),
            "for example - RoCE kept {retention(roce) in %}.");
    return;
  }
  for (const Node& item : node.items) {
    if (!item.scalar()) {
      out.add(item, fmt::format("a sentence is text, not {}", describe(item)),
              "put it in quotes if it has a colon or begins with a brace");
      continue;
    }
    lab.conclusion.push_back(item.text);
    if (!rest_is_good) continue;
    for (const Problem& problem : parse_sentence(item.text, lab).problems)
      out.add(item.line, text_column(item) + problem.column - 1, problem.message, problem.hint);
  }
}

void read_sweep(const Node& node, Lab& lab, Diagnostics& out)
{
  Reader reader(node, sweep_table(), out);
  reader.into("fault", lab.sweep.fault);
  const Key& key = *sweep_table().find("rates");
  Key share = key;
  share.type = Type::share;
  if (const Node* rates = reader.child("rates")) {
    if (!rates->sequence())
      out.add(*rates, fmt::format("rates is a list, not {}", describe(*rates)),
              "for example [0.1%, 1%]");
    for (const Node& item : rates->items)
      if (const auto rate = read_number(item, share, out)) lab.sweep.rates_ppm.push_back(*rate);
  }
  std::sort(lab.sweep.rates_ppm.begin(), lab.sweep.rates_ppm.end());
  if (lab.sweep.fault.empty()) return;
  const auto named = [&](const Fault& fault) { return fault.name == lab.sweep.fault; };
  const auto fault = std::find_if(lab.faults.begin(), lab.faults.end(), named);
  if (fault == lab.faults.end())
    out.add(reader.place("fault"), fmt::format("there is no fault \"{}\"", lab.sweep.fault));
  else if (fault->rate_ppm == 0)
    out.add(reader.place("fault"),
            fmt::format("\"{}\" has no share of packets that could change", lab.sweep.fault),
            "loss, duplicate, reorder and corrupt have a rate");
}

} // namespace rdmalab::lab
