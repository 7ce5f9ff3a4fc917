#include "engine/message.h"

#include "base/json.h"
#include "engine/cell_trace.h"

namespace rdmalab::engine {

RDMALAB_JSON(Request, plan)

std::string encode(const Request& request)
{
  return to_text(request);
}

Result<Request> decode_request(const std::string& text)
{
  TRY_ASSIGN(const Json json, parse_json(text, "the plan handed to the guest"));
  return from_json_value<Request>(json, "the plan handed to the guest");
}

std::string encode(const record::Cell& response)
{
  return to_text(Json{{"cell", response}});
}

std::string encode(const Error& e)
{
  return to_text(Json{{"error",
                       {{"exit", static_cast<int>(e.exit)},
                        {"attempted", e.attempted},
                        {"number", e.number},
                        {"hint", e.hint},
                        {"where", e.where}}}});
}

Result<record::Cell> decode_response(const std::string& text)
{
  const std::size_t end = text.find('\0'); // JSON text holds none
  TRY_ASSIGN(const Json json,
             parse_json(std::string_view(text).substr(0, end), "the guest's answer"));
  if (json.contains("cell")) {
    TRY_ASSIGN(record::Cell cell, from_json_value<record::Cell>(json["cell"], "a cell's record"));
    if (end != std::string::npos) cell.trace = text.substr(end + 1);
    TRY(finish_trace(cell));
    return cell;
  }
  const Json e = json.value("error", Json::object());
  return Error{static_cast<Exit>(e.value("exit", static_cast<int>(Exit::guest))),
               e.value("attempted", std::string("understand the guest's answer")),
               e.value("number", 0), e.value("hint", std::string{}),
               e.value("where", std::string{})};
}

} // namespace rdmalab::engine
