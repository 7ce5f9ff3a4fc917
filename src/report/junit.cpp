#include "report/junit.h"

#include "report/closing.h"
#include "report/phrases.h"
#include "report/xml.h"

#include <utility>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::report {
namespace {

using analysis::ExpectationResult;
using analysis::Result;
using analysis::Verdict;

struct Suite {
  std::string cases;
  unsigned tests = 0;
  unsigned failures = 0;
  unsigned errors = 0;
  unsigned skipped = 0;

  Suite& operator+=(const Suite& other)
  {
    tests += other.tests;
    failures += other.failures;
    errors += other.errors;
    skipped += other.skipped;
    return *this;
  }

  /// Adds a case; `content` is XML, empty for one that passed.
  void add(const std::string& lab, const std::string& name, double seconds,
           const std::string& content)
  {
    ++tests;
    const std::string head =
        fmt::format("    <testcase classname=\"rdmalab.{}\" name=\"{}\" time=\"{:.3f}\"",
                    xml_text(lab), xml_text(name), seconds);
    cases +=
        content.empty() ? head + "/>\n" : fmt::format("{}>\n{}    </testcase>\n", head, content);
  }
};

std::string element(const std::string& name, const std::string& message, const std::string& type,
                    const std::string& body = {})
{
  const std::string attributes =
      fmt::format("message=\"{}\"{}", xml_text(message),
                  type.empty() ? "" : fmt::format(" type=\"{}\"", xml_text(type)));
  if (body.empty()) return fmt::format("      <{} {}/>\n", name, attributes);
  return fmt::format("      <{} {}>{}</{}>\n", name, attributes, xml_text(body), name);
}

void add_validity(Suite& suite, const Result& result)
{
  std::string content;
  if (!result.problems.empty()) {
    ++suite.errors;
    content = element("error", result.problems.front(), "invalid",
                      fmt::format("{}", fmt::join(result.problems, "\n")));
  }
  suite.add(result.lab, "the run is valid", result.timing.wall_seconds, content);
}

void add_expectation(Suite& suite, const Result& result, const ExpectationResult& e, bool strict)
{
  std::string content;
  switch (e.verdict) {
  case Verdict::pass:
    break;
  case Verdict::fail:
    ++suite.failures;
    content = element("failure", e.reason, "expectation");
    break;
  case Verdict::inconclusive:
    ++(strict ? suite.failures : suite.skipped);
    content = strict ? element("failure", "inconclusive: " + e.reason, "inconclusive")
                     : element("skipped", "inconclusive: " + e.reason, "");
    break;
  case Verdict::invalid:
    ++suite.errors;
    content = element("error", e.reason, "invalid");
    break;
  }
  suite.add(result.lab, e.text, 0, content);
}

std::string properties(const Result& result)
{
  const record::Environment& e = result.environment;
  std::string text = "    <properties>\n";
  for (const auto& [name, value] : {std::pair<std::string, std::string>{"engine", e.engine},
                                    {"clock", e.clock},
                                    {"accelerator", e.accelerator},
                                    {"kernel", e.kernel},
                                    {"qemu", e.qemu},
                                    {"rdmalab", e.rdmalab},
                                    {"record_digest", result.record_digest}})
    text += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name, xml_text(value));
  return text + "    </properties>\n";
}

std::string counts(const Suite& s, double seconds)
{
  return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\"",
                     s.tests, s.failures, s.errors, s.skipped, seconds);
}

} // namespace

std::string junit(const std::vector<Result>& results, bool strict)
{
  Suite all;
  double seconds = 0;
  std::string suites;
  for (const Result& result : results) {
    Suite suite;
    add_validity(suite, result);
    for (const ExpectationResult& e : result.expectations)
      add_expectation(suite, result, e, strict);
    all += suite;
    seconds += result.timing.wall_seconds;
    suites += fmt::format("  <testsuite name=\"{}\" {}>\n{}{}    <system-out>{}</system-out>\n"
                          "  </testsuite>\n",
                          xml_text(result.lab), counts(suite, result.timing.wall_seconds),
                          properties(result), suite.cases, xml_text(closing_paragraph(result)));
  }
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                     "<testsuites name=\"rdmalab\" {}>\n{}</testsuites>\n",
                     counts(all, seconds), suites);
}

} // namespace rdmalab::report
