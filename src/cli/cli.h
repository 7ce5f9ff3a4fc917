#pragma once

namespace rdmalab::cli {

/// The program: parses the command line, runs one sub-command, returns the exit status (base/result.h).
int main(int argc, char** argv);

} // namespace rdmalab::cli
