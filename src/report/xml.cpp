#include "report/xml.h"

#include "report/text.h"

namespace rdmalab::report {

std::string xml_text(std::string_view text)
{
  std::string out;
  while (!text.empty()) {
    const CodePoint c = decode(text);
    text.remove_prefix(c.bytes);
    switch (c.value) {
    case U'&':
      out += "&amp;";
      break;
    case U'<':
      out += "&lt;";
      break;
    case U'>':
      out += "&gt;";
      break;
    case U'"':
      out += "&quot;";
      break;
    case U'\'':
      out += "&#39;";
      break;
    case U'\t':
      out += "&#9;";
      break;
    case U'\n':
      out += "&#10;";
      break;
    case U'\r':
      out += "&#13;";
      break;
    default:
      encode(out, c.value < 0x20 || c.value == 0xFFFE || c.value == 0xFFFF ? 0xFFFD : c.value);
    }
  }
  return out;
}

} // namespace rdmalab::report
