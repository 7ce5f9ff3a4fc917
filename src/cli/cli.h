#pragma once

#include <iosfwd>

namespace rdmalab::cli {

/// The program: parses the command line, runs one sub-command, returns the exit status
/// (base/result.h).
int main(int argc, char** argv);

/// The same on other streams, for tests.
int run(int argc, const char* const* argv, std::ostream& out, std::ostream& err);

} // namespace rdmalab::cli
