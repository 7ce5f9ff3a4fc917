#include "plan/plan.h"

#include "base/json.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/labs.h"
#include "lab/parse.h"
#include "plan/commands.h"
#include "plan/notes.h"
#include "plan/planner.h"

#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>

namespace rdmalab::cli {
namespace {

struct PlanOptions {
  std::string file;
  bool tc = false;
};

void print_hosts(std::ostream& out, const plan::Fabric& fabric)
{
  out << "\nhosts\n";
  for (const plan::HostNode& host : fabric.hosts)
    out << fmt::format("  {:<12} {:<11} {}  namespace {}, port {}, {}\n", host.name, host.ip,
                       host.mac, host.netns, host.port, host.rdma);
  out << fmt::format("  fabric: namespace {}, MTU {}, offloads {}\n", fabric.netns, fabric.mtu,
                     fabric.offloads ? "on" : "off");
}

void print_links(std::ostream& out, const plan::Fabric& fabric)
{
  out << "\nlinks\n";
  for (const plan::Shaper& shaper : fabric.shapers) {
    out << fmt::format("  {} {:<12} {}: netem {}\n", shaper.up ? "from" : "to  ", shaper.host,
                       shaper.device, plan::netem_arguments(shaper.unfaulted));
    if (!shaper.faults.empty())
      out << fmt::format("    with {}: netem {}\n", fmt::join(shaper.faults, ", "),
                         plan::netem_arguments(shaper.faulted));
  }
}

void print_rules(std::ostream& out, const lab::Lab& lab)
{
  if (lab.rules.empty()) return;
  out << "\nrules\n";
  for (const lab::Rule& rule : lab.rules)
    out << fmt::format("  {:<12} {} {}: {}\n", rule.name, lab::kind_words(rule.kind), rule.traffic,
                       lab::rule_words(rule));
}

void print_cells(std::ostream& out, const plan::Plan& plan)
{
  const std::uint64_t each = plan.lab.measure.warmup_ns + plan.lab.measure.duration_ns;
  out << fmt::format("\ncells: {}, each {} of warm-up and {} of measuring, {} in all\n",
                     plan.cells.size(), units::format_time(plan.lab.measure.warmup_ns),
                     units::format_time(plan.lab.measure.duration_ns),
                     units::format_time(each * plan.cells.size()));
  for (const plan::Cell& cell : plan.cells)
    out << fmt::format("  {:<28} seed {}\n", cell.id, cell.seed);
}

Result<Exit> show_plan(Context& context, const PlanOptions& options)
{
  const std::filesystem::path file = find_lab(options.file);
  TRY_ASSIGN(const lab::Lab lab, lab::load_file(file));
  auto made = plan::make_plan(lab);
  if (!made) {
    made.error().where = file.string();
    return made.error();
  }
  const plan::Plan& plan = *made;
  if (context.json) {
    if (options.tc)
      print_json(context,
                 {{"version", 1}, {"lab", lab.name}, {"script", plan::shell_script(plan)}});
    else
      print_json(context, plan);
    return Exit::ok;
  }
  if (options.tc) {
    context.out << plan::shell_script(plan);
    return Exit::ok;
  }
  context.out << plan.lab.name << '\n';
  if (!plan.lab.hypothesis.empty()) context.out << plan.lab.hypothesis << '\n';
  print_hosts(context.out, plan.fabric);
  print_links(context.out, plan.fabric);
  print_rules(context.out, plan.lab);
  print_cells(context.out, plan);
  const auto notes = plan::notes(plan);
  if (!notes.empty()) context.out << "\nnotes\n";
  for (const std::string& note : notes) context.out << "  " << note << '\n';
  return Exit::ok;
}

} // namespace

void add_plan(CLI::App& app, Context& context)
{
  CLI::App* command = app.add_subcommand("plan", "Say what a run would do, without doing it");
  auto options = std::make_shared<PlanOptions>();
  command->add_option("FILE", options->file, "A lab file, or the name of a lab that comes along")
      ->required();
  command->add_flag(
      "--tc", options->tc,
      "As a shell script of the ip, tc, rdma, ethtool and sysctl lines it stands for");
  command->footer("Examples:\n"
                  "  rdmalab plan labs/loss-1pct.yaml\n"
                  "  rdmalab plan labs/loss-1pct.yaml --tc > by-hand.sh\n"
                  "  rdmalab plan labs/loss-1pct.yaml --json    the plan as an engine takes it");
  command->callback([&context, options] {
    context.action = [&context, options] { return show_plan(context, *options); };
  });
}

} // namespace rdmalab::cli
