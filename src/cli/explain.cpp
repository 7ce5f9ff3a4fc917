#include "base/json.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/labs.h"
#include "cli/topics.h"
#include "lab/parse.h"
#include "lab/suggest.h"

#include <algorithm>
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>

namespace rdmalab::cli {
namespace {

Result<Exit> list_topics(Context& context)
{
  if (context.json) {
    Json list = Json::array();
    for (const Topic& topic : topics())
      list.push_back({{"topic", topic.name}, {"summary", topic.summary}});
    print_json(context, {{"version", 1}, {"topics", list}});
    return Exit::ok;
  }
  for (const Topic& topic : topics())
    context.out << fmt::format("{:<11}  {}\n", topic.name, topic.summary);
  return Exit::ok;
}

Result<Exit> show_topic(Context& context, const Topic& topic)
{
  if (context.json)
    print_json(
        context,
        {{"version", 1}, {"topic", topic.name}, {"summary", topic.summary}, {"text", topic.text}});
  else
    context.out << fmt::format("{}: {}\n\n{}\n", topic.name, topic.summary, topic.text);
  return Exit::ok;
}

void print_list(std::ostream& out, std::string_view title, const std::vector<std::string>& items)
{
  if (items.empty()) return;
  out << '\n' << title << '\n';
  for (const std::string& item : items) out << "  - " << item << '\n';
}

Result<Exit> show_lab(Context& context, const std::filesystem::path& file)
{
  TRY_ASSIGN(const lab::Lab lab, lab::load_file(file));
  std::vector<std::string> expectations;
  for (const lab::Expectation& e : lab.expect) expectations.push_back(e.text);
  if (context.json) {
    print_json(context, {{"version", 1},
                         {"lab", lab.name},
                         {"hypothesis", lab.hypothesis},
                         {"description", lab.description},
                         {"questions", lab.questions},
                         {"expectations", expectations}});
    return Exit::ok;
  }
  context.out << lab.name << '\n';
  if (!lab.hypothesis.empty()) context.out << '\n' << lab.hypothesis << '\n';
  if (!lab.description.empty()) context.out << '\n' << lab.description << '\n';
  print_list(context.out, "Questions", lab.questions);
  print_list(context.out, "Expected", expectations);
  return Exit::ok;
}

Result<Exit> explain(Context& context, const std::string& subject)
{
  if (subject.empty()) return list_topics(context);
  const auto all = topics();
  const auto topic =
      std::find_if(all.begin(), all.end(), [&](const Topic& t) { return t.name == subject; });
  if (topic != all.end()) return show_topic(context, *topic);

  const std::filesystem::path file = find_lab(subject);
  std::error_code error;
  if (std::filesystem::exists(file, error)) return show_lab(context, file);
  std::vector<std::string_view> names;
  for (const Topic& t : all) names.push_back(t.name);
  return usage_error(fmt::format("explain '{}': neither a topic nor a lab{}", subject,
                                 lab::did_you_mean(subject, names)),
                     "rdmalab explain lists the topics, rdmalab list the labs");
}

} // namespace

void add_explain(CLI::App& app, Context& context)
{
  CLI::App* command =
      app.add_subcommand("explain", "What a fault, a term or a lab is about, in a few lines");
  auto subject = std::make_shared<std::string>();
  command->add_option("TOPIC|LAB", *subject, "A topic or a lab; without one: the list of topics");
  command->footer("Examples:\n  rdmalab explain go-back-n\n  rdmalab explain labs/loss-1pct.yaml");
  command->callback([&context, subject] {
    context.action = [&context, subject] { return explain(context, *subject); };
  });
}

} // namespace rdmalab::cli
