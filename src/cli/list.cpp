#include "base/json.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/labs.h"
#include "lab/parse.h"

#include <algorithm>
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>

namespace rdmalab::cli {
namespace {

struct Entry {
  std::filesystem::path file;
  std::string name;
  std::string hypothesis;
  std::optional<Error> error;
};

/// The first of the folders that exists, or the one that was asked for.
Result<std::filesystem::path> choose_folder(const std::string& asked)
{
  if (!asked.empty()) return std::filesystem::path(asked);
  const auto folders = lab_folders();
  std::error_code error;
  for (const auto& folder : folders)
    if (std::filesystem::is_directory(folder, error)) return folder;
  std::string looked;
  for (const auto& folder : folders) looked += (looked.empty() ? "" : " and ") + folder.string();
  return usage_error("find labs: there are none in " + looked,
                     "name their folder: rdmalab list DIR");
}

Entry read_entry(const std::filesystem::path& file)
{
  const auto lab = lab::load_file(file);
  if (!lab) return {file, file.stem().string(), {}, lab.error()};
  return {file, lab->name, lab->hypothesis, {}};
}

/// Free text on one line.
std::string one_line(std::string text)
{
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

Result<Exit> list(Context& context, const std::string& asked)
{
  TRY_ASSIGN(const auto folder, choose_folder(asked));
  TRY_ASSIGN(const auto files, labs_in(folder));
  std::vector<Entry> entries;
  std::transform(files.begin(), files.end(), std::back_inserter(entries), read_entry);
  if (context.json) {
    Json labs = Json::array();
    for (const Entry& entry : entries) {
      Json json{{"name", entry.name}, {"file", entry.file.string()}};
      if (entry.error)
        json["error"] = error_json(*entry.error);
      else
        json["hypothesis"] = entry.hypothesis;
      labs.push_back(std::move(json));
    }
    print_json(context, {{"version", 1}, {"folder", folder.string()}, {"labs", labs}});
    return Exit::ok;
  }
  std::size_t width = 0;
  for (const Entry& entry : entries) width = std::max(width, entry.name.size());
  for (const Entry& entry : entries)
    context.out << fmt::format("{:<{}}  {}\n", entry.name, width,
                               entry.error ? "not a valid lab: " + entry.error->message()
                                           : one_line(entry.hypothesis));
  if (entries.empty()) context.err << "no labs in " << folder.string() << '\n';
  return Exit::ok;
}

} // namespace

void add_list(CLI::App& app, Context& context)
{
  CLI::App* command = app.add_subcommand("list", "The labs of a folder: names and hypotheses");
  auto folder = std::make_shared<std::string>();
  command->add_option("DIR", *folder, "Default: ./labs, or the labs that were installed");
  command->callback([&context, folder] {
    context.action = [&context, folder] { return list(context, *folder); };
  });
}

} // namespace rdmalab::cli
