#include "ebpf/log.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <deque>

#include <bpf/libbpf.h>

namespace rdmalab::ebpf {

namespace {

libbpf_print_fn_t before = nullptr;
thread_local std::string* kept = nullptr;

int print(libbpf_print_level level, const char* format, va_list arguments)
{
  if (!kept) return before ? before(level, format, arguments) : 0;
  if (level == LIBBPF_DEBUG) return 0;
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (length <= 0) return length;
  const auto old = kept->size();
  kept->resize(old + static_cast<std::size_t>(length) + 1); // vsnprintf writes a final zero
  std::vsnprintf(kept->data() + old, static_cast<std::size_t>(length) + 1, format, arguments);
  kept->pop_back();
  return length;
}

} // namespace

BpfLog::BpfLog()
{
  kept = new std::string;
  const auto previous = libbpf_set_print(print);
  if (previous != print) before = previous;
}

BpfLog::~BpfLog()
{
  libbpf_set_print(before);
  delete kept;
  kept = nullptr;
}

std::string BpfLog::tail(std::size_t lines) const
{
  std::deque<std::string> last;
  std::size_t begin = 0;
  while (begin < kept->size()) {
    const auto end = std::min(kept->find('\n', begin), kept->size());
    auto line = kept->substr(begin, end - begin);
    begin = end + 1;
    const bool frame = line.find("-- BEGIN PROG LOAD LOG") != std::string::npos ||
                       line.find("-- END PROG LOAD LOG") != std::string::npos;
    if (line.empty() || frame) continue;
    last.push_back(std::move(line));
    if (last.size() > lines) last.pop_front();
  }
  std::string text;
  for (const auto& line : last) text += (text.empty() ? "" : "; ") + line;
  return text;
}

} // namespace rdmalab::ebpf
