#include "engine/cpio.h"

#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>

namespace rdmalab::engine {
namespace {

void append(std::string& out, std::string_view name, unsigned mode, unsigned inode,
            std::string_view content)
{
  const auto pad = [&out] { out.append((4 - out.size() % 4) % 4, '\0'); };
  // magic, ino, mode, uid, gid, nlink, mtime, filesize, devmajor, devminor, rdevmajor, rdevminor,
  // namesize, check
  out += fmt::format(
      "070701{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}", inode,
      mode, 0, 0, 1, 0, content.size(), 0, 0, 0, 0, name.size() + 1, 0);
  out += name;
  out += '\0';
  pad();
  out += content;
  pad();
}

} // namespace

void CpioArchive::add_parents(const std::string& path)
{
  for (size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1))
    entries_.try_emplace(path.substr(0, slash), Entry{S_IFDIR | 0755, {}});
}

void CpioArchive::add_file(const std::string& path, std::string content, unsigned mode)
{
  add_parents(path);
  entries_[path] = {S_IFREG | mode, std::move(content)};
}

void CpioArchive::add_folder(const std::string& path)
{
  add_parents(path);
  entries_.try_emplace(path, Entry{S_IFDIR | 0755, {}});
}

void CpioArchive::add_symlink(const std::string& path, const std::string& target)
{
  add_parents(path);
  entries_[path] = {S_IFLNK | 0777, target};
}

std::string CpioArchive::bytes() const
{
  std::string out;
  unsigned inode = 1;
  for (const auto& [path, entry] : entries_) append(out, path, entry.mode, inode++, entry.content);
  append(out, "TRAILER!!!", 0, 0, {});
  out.append((512 - out.size() % 512) % 512, '\0');
  return out;
}

} // namespace rdmalab::engine
