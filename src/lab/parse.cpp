#include "lab/parse.h"

#include "base/file.h"
#include "lab/reader.h"
#include "lab/sections.h"

#include <spdlog/fmt/fmt.h>

namespace rdmalab::lab {
namespace {

void read_measure(const Node& node, Lab& lab, Diagnostics& out)
{
  Reader reader(node, measure_table(), out);
  reader.into("warmup", lab.measure.warmup_ns);
  reader.into("duration", lab.measure.duration_ns);
  reader.into("repeat", lab.measure.repeat);
  reader.into("path", lab.measure.path);
}

void read_questions(const Node& node, Lab& lab, Diagnostics& out)
{
  if (!node.sequence()) {
    out.add(node, fmt::format("questions is a list, not {}", describe(node)));
    return;
  }
  for (const Node& item : node.items) {
    if (item.scalar())
      lab.questions.push_back(item.text);
    else
      out.add(item, fmt::format("a question is text, not {}", describe(item)),
              "put it in quotes if it has a colon");
  }
}

void read_lab(const Node& root, Lab& lab, Diagnostics& out)
{
  Reader reader(root, lab_table(), out);
  reader.into("version", lab.version);
  reader.into("name", lab.name);
  reader.into("hypothesis", lab.hypothesis);
  reader.into("description", lab.description);
  reader.into("seed", lab.seed);
  reader.into("timeout", lab.timeout_ns);

  const Node* topology = reader.child("topology");
  const Node* traffic = reader.child("traffic");
  const Node* run = reader.child("run");
  const Node* faults = reader.child("faults");
  const Node* rules = reader.child("rules");
  const Node* trace = reader.child("trace");
  const Node* events = reader.child("events");
  const Node* measure = reader.child("measure");
  const Node* expect = reader.child("expect");
  const Node* claims = reader.child("claims");
  const Node* conclusion = reader.child("conclusion");
  const Node* sweep = reader.child("sweep");
  Names hosts("host", out);
  Names traffics("traffic", out);
  if (topology != nullptr)
    read_topology(*topology, lab.topology, hosts, out);
  else
    hosts.distrust();
  if (traffic != nullptr)
    read_traffic(*traffic, lab, hosts, traffics, out);
  else
    traffics.distrust();
  read_groups(run, lab, traffics, out);
  if (faults != nullptr) read_faults(*faults, lab, hosts, out);
  if (measure != nullptr) read_measure(*measure, lab, out);
  if (rules != nullptr) read_rules(*rules, lab, traffics, out);
  if (trace != nullptr) read_trace(*trace, lab, out);
  if (events != nullptr && trace != nullptr && !lab.trace.on)
    out.add(*trace, "events are looked for in the trace, which is off", "leave trace out");
  if (events != nullptr) read_events(*events, lab, traffics, out);
  if (lab.measure.warmup_ns + lab.measure.duration_ns >= lab.timeout_ns)
    out.add(
        reader.place(reader.has("timeout") ? "timeout" : "measure"),
        fmt::format("a cell of {} does not end before its timeout of {}",
                    format_quantity(Type::time, lab.measure.warmup_ns + lab.measure.duration_ns),
                    format_quantity(Type::time, lab.timeout_ns)),
        "raise timeout, or shorten measure.warmup and measure.duration");
  if (const Node* questions = reader.child("questions")) read_questions(*questions, lab, out);
  if (sweep != nullptr) read_sweep(*sweep, lab, out);
  // All three check names against the rest of the lab, so each asks whether that is good.
  const bool rest_is_good = out.empty();
  if (expect != nullptr) read_expectations(*expect, lab, rest_is_good, out);
  if (claims != nullptr) read_claims(*claims, lab, rest_is_good, out);
  if (conclusion != nullptr) read_conclusion(*conclusion, lab, rest_is_good, out);
}

Result<Lab> first_of(Parsed parsed)
{
  if (parsed.lab) return std::move(*parsed.lab);
  return parsed.diagnostics.front().error();
}

} // namespace

Parsed parse_all(std::string_view text, const std::string& filename)
{
  Diagnostics out(filename);
  Lab lab;
  if (const auto root = parse_document(text, out))
    read_lab(*root, lab, out);
  else if (out.empty())
    out.add(1, 1, "the file holds no value");
  Parsed parsed;
  if (out.empty())
    parsed.lab = std::move(lab);
  else
    parsed.diagnostics = out.take();
  return parsed;
}

Result<Lab> parse(std::string_view text, const std::string& filename)
{
  return first_of(parse_all(text, filename));
}

Parsed load_file_all(const std::filesystem::path& path)
{
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  const auto refuse = [&](std::string message, std::string hint) {
    Parsed parsed;
    parsed.diagnostics.push_back({path.string(), 0, 0, std::move(message), std::move(hint)});
    return parsed;
  };
  if (status.type() == std::filesystem::file_type::not_found)
    return refuse("there is no such file", "`rdmalab list` names the labs that come with rdmalab");
  if (std::filesystem::is_directory(status))
    return refuse("this is a directory", "name one lab file in it");
  // Anything else that is not a regular file might never end: a FIFO, a terminal.
  if (!std::filesystem::is_regular_file(status)) return refuse("this is not a regular file", {});
  if (const auto size = std::filesystem::file_size(path, error);
      !error && size > max_document_bytes)
    return refuse(
        fmt::format("the file has {} bytes; a lab file has at most {}", size, max_document_bytes),
        {});
  const auto text = read_file(path);
  if (!text) return refuse(text.error().message(), "check the file's permissions");
  return parse_all(*text, path.string());
}

Result<Lab> load_file(const std::filesystem::path& path)
{
  return first_of(load_file_all(path));
}

} // namespace rdmalab::lab
