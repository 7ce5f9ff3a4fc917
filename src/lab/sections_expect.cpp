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
  for (const Node& item : node.items) {
    if (!item.scalar()) {
      out.add(item, fmt::format("an expectation is a comparison, not {}", describe(item)),
              "for example - retention(tcp) >= 90%");
      continue;
    }
    lab.expect.push_back({item.text, item.line, item.column});
  }
}

} // namespace rdmalab::lab
