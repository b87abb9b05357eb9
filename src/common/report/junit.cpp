#include "common/report/junit.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "common/core/plain_text.h"

namespace fabricbench {
namespace {

std::string escaped_for_xml(std::string_view text) {
  std::string made;
  for (const char letter : printable(text)) {
    switch (letter) {
      case '&': made += "&amp;"; break;
      case '<': made += "&lt;"; break;
      case '>': made += "&gt;"; break;
      case '"': made += "&quot;"; break;
      default: made += letter;
    }
  }
  return made;
}

std::ptrdiff_t count_of(const std::vector<JunitCase>& cases, JunitOutcome outcome) {
  return std::count_if(cases.begin(), cases.end(), [&](const JunitCase& each) { return each.outcome == outcome; });
}

void add_line(std::string& text, const std::string& hosts, const std::string& what) {
  text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", hosts, what);
}

}  // namespace

std::string junit_suite(std::string_view suite, const std::vector<JunitCase>& cases) {
  double seconds = 0;
  for (const JunitCase& each : cases) seconds += each.seconds;
  std::string text =
      fmt::format(R"(<testsuite name="{}" tests="{}" failures="{}" errors="{}" skipped="{}" time="{:.1f}">)", suite,
                  cases.size(), count_of(cases, JunitOutcome::kFailure), count_of(cases, JunitOutcome::kError),
                  count_of(cases, JunitOutcome::kSkipped), seconds);
  for (const JunitCase& each : cases) {
    constexpr std::array<std::string_view, 4> kElements = {"", "failure", "error", "skipped"};
    const std::string_view element = kElements.at(static_cast<std::size_t>(each.outcome));
    text += fmt::format(R"(<testcase classname="{}" name="{}" time="{:.1f}")", suite, escaped_for_xml(each.name),
                        each.seconds);
    text += element.empty() ? " />"
                            : fmt::format(R"(><{0} type="{1}" message="{2}">{2}</{0}></testcase>)", element, each.type,
                                          escaped_for_xml(each.message));
  }
  return text + "</testsuite>";
}

std::string junit_document(std::string_view name, std::string_view suites) {
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\">{}</testsuites>\n", name,
                     suites);
}

void JunitSink::record(const AnyRecord& record) {
  if (const auto* finding = record.as<PreflightFinding>()) {
    if (finding->what.level != host::CheckLevel::kFailure) return;
    const auto& what = finding->what;
    add_line(
        told_[finding->check].failures, finding->hosts,
        fmt::format("{}{}{}; expected {}", what.device, what.device.empty() ? "" : ": ", what.measured, what.expected));
  } else if (const auto* unseen = record.as<PreflightUnseen>()) {
    Told& told = told_[unseen->check];
    add_line(unseen->is_required ? told.required : told.others, unseen->hosts,
             fmt::format("could not check {}: {}", unseen->what.source, unseen->what.reason));
  } else if (const auto* check = record.as<PreflightCheck>()) {
    checks_.push_back(*check);
  }
}

JunitCase JunitSink::case_of(const PreflightCheck& check) {
  const Told& told = told_[check.check];
  if (!told.failures.empty()) return {check.check, 0, JunitOutcome::kFailure, "failure", told.failures};
  if (!told.required.empty()) return {check.check, 0, JunitOutcome::kError, "could_not_check", told.required};
  if (!told.others.empty()) return {check.check, 0, JunitOutcome::kSkipped, "could_not_check", told.others};
  if (check.ok_hosts + check.finding_hosts > 0) return {check.check};
  return {check.check, 0, JunitOutcome::kSkipped, "absent", "no host has anything of the kind"};
}

void JunitSink::end(const Ending& ending) {
  std::vector<JunitCase> cases;
  cases.reserve(checks_.size());
  for (const PreflightCheck& each : checks_) cases.push_back(case_of(each));
  const bool is_ok = ending.exit_status == 0;
  std::string run = junit_suite(
      "preflight.run", {{"run", 0, is_ok ? JunitOutcome::kPassed : JunitOutcome::kFailure, "run", ending.reason}});
  output_.write(junit_document("fabricbench preflight", junit_suite("preflight.checks", cases) + run));
  output_.close();
}

}  // namespace fabricbench
