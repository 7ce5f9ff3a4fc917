#include "engine/elf.h"

#include "base/file.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include <elf.h>

namespace rdmalab::engine {
namespace {

namespace fs = std::filesystem;

Error not_elf(const fs::path& path)
{
  return Error{
      Exit::environment, path.string() + " is not a 64-bit little-endian ELF file", 0, {}, {}};
}

/// Copies a T out of the file; nothing if it would reach past the end.
template <typename T> std::optional<T> at(const std::string& file, std::uint64_t offset)
{
  if (offset > file.size() || file.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, file.data() + offset, sizeof value);
  return value;
}

std::string text_at(const std::string& file, std::uint64_t offset)
{
  if (offset >= file.size()) return {};
  const size_t end = file.find('\0', offset);
  return file.substr(offset, end == std::string::npos ? std::string::npos : end - offset);
}

void add_folders(const std::string& list, const fs::path& origin, std::vector<std::string>& out)
{
  std::istringstream in(list);
  for (std::string folder; std::getline(in, folder, ':');) {
    for (const std::string token : {"$ORIGIN", "${ORIGIN}"})
      if (const size_t where = folder.find(token); where != std::string::npos)
        folder.replace(where, token.size(), origin.string());
    if (!folder.empty()) out.push_back(folder);
  }
}

/// ld.so's search path as its configuration gives it, then its built-in one.
std::vector<fs::path> system_folders()
{
  std::vector<fs::path> folders;
  std::error_code ignored;
  std::set<fs::path> files{"/etc/ld.so.conf"};
  for (const auto& entry : fs::directory_iterator("/etc/ld.so.conf.d", ignored))
    files.insert(entry.path());
  for (const fs::path& file : files) {
    auto text = read_file(file);
    if (!text) continue;
    std::istringstream in(*text);
    for (std::string line; std::getline(in, line);)
      if (line.starts_with('/')) folders.emplace_back(line);
  }
  for (const char* folder : {"/lib64", "/usr/lib64", "/lib", "/usr/lib"})
    folders.emplace_back(folder);
  return folders;
}

} // namespace

Result<ElfNeeds> read_elf(const fs::path& path)
{
  TRY_ASSIGN(const std::string file, read_file(path));
  const auto header = at<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
    return not_elf(path);

  ElfNeeds needs;
  std::vector<Elf64_Phdr> loads;
  std::optional<Elf64_Phdr> dynamic;
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    const auto segment =
        at<Elf64_Phdr>(file, header->e_phoff + static_cast<std::uint64_t>(i) * header->e_phentsize);
    if (!segment) return not_elf(path);
    if (segment->p_type == PT_INTERP) needs.interpreter = text_at(file, segment->p_offset);
    if (segment->p_type == PT_LOAD) loads.push_back(*segment);
    if (segment->p_type == PT_DYNAMIC) dynamic = segment;
  }
  if (!dynamic) return needs;

  std::vector<std::uint64_t> needed;
  std::vector<std::uint64_t> paths;
  std::uint64_t strings = 0;
  for (std::uint64_t offset = dynamic->p_offset;; offset += sizeof(Elf64_Dyn)) {
    const auto entry = at<Elf64_Dyn>(file, offset);
    if (!entry || entry->d_tag == DT_NULL) break;
    if (entry->d_tag == DT_NEEDED) needed.push_back(entry->d_un.d_val);
    if (entry->d_tag == DT_RUNPATH || entry->d_tag == DT_RPATH) paths.push_back(entry->d_un.d_val);
    if (entry->d_tag == DT_STRTAB) strings = entry->d_un.d_ptr;
  }
  for (const Elf64_Phdr& load : loads)
    if (strings >= load.p_vaddr && strings < load.p_vaddr + load.p_filesz) {
      strings = strings - load.p_vaddr + load.p_offset;
      break;
    }
  for (const std::uint64_t offset : needed) needs.needed.push_back(text_at(file, strings + offset));
  for (const std::uint64_t offset : paths)
    add_folders(text_at(file, strings + offset), fs::absolute(path).parent_path(), needs.runpath);
  return needs;
}

std::string loadable_part(std::string file)
{
  auto header = at<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return file;
  std::uint64_t end = header->e_phoff + std::uint64_t{header->e_phnum} * header->e_phentsize;
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    const auto segment =
        at<Elf64_Phdr>(file, header->e_phoff + std::uint64_t{i} * header->e_phentsize);
    if (!segment) return file;
    end = std::max(end, segment->p_offset + segment->p_filesz);
  }
  if (end > file.size()) return file;
  file.resize(end);
  header->e_shoff = 0;
  header->e_shnum = 0;
  header->e_shstrndx = SHN_UNDEF;
  std::memcpy(file.data(), &*header, sizeof *header);
  return file;
}

Result<std::vector<Library>> closure(const std::vector<fs::path>& programs)
{
  static const std::vector<fs::path> folders = system_folders();
  std::map<std::string, fs::path> found;
  std::vector<fs::path> open = programs;
  while (!open.empty()) {
    const fs::path path = open.back();
    open.pop_back();
    TRY_ASSIGN(const ElfNeeds needs, read_elf(path));
    if (!needs.interpreter.empty()) found.emplace(needs.interpreter, needs.interpreter);
    for (const std::string& soname : needs.needed) {
      if (found.contains(soname)) continue;
      std::vector<fs::path> places(needs.runpath.begin(), needs.runpath.end());
      places.insert(places.end(), folders.begin(), folders.end());
      std::error_code ignored;
      const auto place = std::find_if(places.begin(), places.end(), [&](const fs::path& folder) {
        return fs::exists(folder / soname, ignored);
      });
      if (place == places.end())
        return Error{Exit::environment,
                     "find library " + soname + ", which " + path.string() + " needs",
                     0,
                     "install the package that holds it",
                     {}};
      found.emplace(soname, *place / soname);
      open.push_back(*place / soname);
    }
  }
  std::vector<Library> libraries;
  libraries.reserve(found.size());
  for (const auto& [soname, path] : found) libraries.push_back({soname, path});
  return libraries;
}

} // namespace rdmalab::engine
