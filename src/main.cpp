#include "cli/cli.h"

int main(int argc, char** argv)
{
  return rdmalab::cli::main(argc, argv);
}
