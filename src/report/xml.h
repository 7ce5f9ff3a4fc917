#pragma once

#include <string>
#include <string_view>

namespace rdmalab::report {

/// Text as XML 1.0 (and HTML) character data or a quoted attribute: & < > " ' as entities;
/// characters that XML 1.0 does not allow (section 2.2) and bytes that are no UTF-8 as U+FFFD. Line
/// ends and tabs are character references, so that an attribute keeps them.
std::string xml_text(std::string_view text);

} // namespace rdmalab::report
