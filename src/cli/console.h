#pragma once

#include "base/json_fwd.h"
#include "cli/command.h"
#include "report/style.h"

#include <string>

/// What commands print.
namespace rdmalab::cli {

/// "error: where: message" and "hint: …" on stderr. On stdout nothing.
void print_error(Context& context, const Error& error);

/// {"exit", "message", "where", "hint"}; what is empty is left out.
Json error_json(const Error& error);

/// One document on stdout, indented.
void print_json(Context& context, const Json& json);

/// How text on stdout may look: colours only on a terminal.
report::Style stdout_style(const Context& context);

} // namespace rdmalab::cli
