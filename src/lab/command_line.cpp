#include "lab/command_line.h"

#include <sstream>

namespace rdmalab::lab {

std::vector<std::string> command_words(const std::string& line, const CommandHost& host)
{
  std::vector<std::string> words;
  std::istringstream in(line);
  for (std::string word; in >> word;) {
    if (word == "{rdma}") word = host.rdma;
    if (word == "{ip}") word = host.ip;
    if (word == "{peer}") word = host.peer;
    words.push_back(word);
  }
  return words;
}

} // namespace rdmalab::lab
