#include "lab/expression.h"
#include "lab/sections.h"

#include <spdlog/fmt/fmt.h>

namespace rdmalab::lab {

void read_expectations(const Node& node, Lab& lab, Diagnostics& out)
{
  if (!node.sequence()) {
    out.add(node, fmt::format("expect is a list, not {}", describe(node)),
            "for example - retention(tcp) >= 90%");
    return;
  }
  const bool rest_is_good =
      out.empty(); // otherwise names might be missing for a reason that is reported already
  for (const Node& item : node.items) {
    if (!item.scalar()) {
      out.add(item, fmt::format("an expectation is a comparison, not {}", describe(item)),
              "for example - retention(tcp) >= 90%");
      continue;
    }
    lab.expect.push_back({item.text, item.line, item.column + (item.quoted ? 1 : 0)});
    const Expectation& expectation = lab.expect.back();
    const ParsedExpression parsed = parse_expression(item.text);
    auto problems = parsed.problems;
    if (parsed.comparison && rest_is_good) problems = check_expression(*parsed.comparison, lab);
    for (const Problem& problem : problems)
      out.add(expectation.line, expectation.column + problem.column - 1, problem.message,
              problem.hint);
  }
}

} // namespace rdmalab::lab
