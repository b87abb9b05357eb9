// The records of pre-flight: what hosts tell rank 0, and what it writes.
#pragma once

#include <cstdint>
#include <string>

#include "common/host/checks/checks.h"
#include "common/record/field.h"

namespace fabricbench {

/// One check on all hosts.
struct PreflightCheck {
  std::string check;
  std::int64_t ok_hosts = 0;
  std::int64_t finding_hosts = 0;
  std::int64_t unchecked_hosts = 0;
  std::int64_t absent_hosts = 0;
};

/// One cause, with all hosts that have it.
struct PreflightFinding {
  std::string check;
  std::string hosts;  ///< such as `node[01-16]`
  std::int64_t host_count = 0;
  host::CheckFinding what;
};

/// What a check could not see, and why.
struct PreflightUnseen {
  std::string check;
  std::string hosts;
  std::int64_t host_count = 0;
  bool is_required = false;
  std::int64_t source_count = 0;
  host::UnseenSource what;  ///< the first of them
};

template <typename Visitor, record::Of<PreflightCheck> Record>
void describe(Visitor& visitor, Record& check) {
  using namespace record;
  visitor.line("preflight_check", "One check of `preflight` on all hosts");
  visitor("check", check.check, "name of the check; docs/preflight.md says what it asks");
  visitor("ok_hosts", natural(check.ok_hosts), "hosts on which everything was seen, and nothing is wrong");
  visitor("finding_hosts", natural(check.finding_hosts), "hosts on which something is wrong");
  visitor("unchecked_hosts", natural(check.unchecked_hosts), "hosts on which something could not be seen");
  visitor("absent_hosts", natural(check.absent_hosts), "hosts that have nothing of the kind");
}

template <typename Visitor, record::Of<PreflightFinding> Record>
void describe(Visitor& visitor, Record& finding) {
  using namespace record;
  auto& what = finding.what;
  visitor.line("preflight_finding", "One cause that `preflight` has found, with all hosts that have it");
  visitor("check", finding.check, "name of the check");
  visitor("level", what.level, "`fail`: jobs fail, hang or crawl; `warn`: it costs speed, or may; `note`");
  visitor("hosts", finding.hosts, "a list such as `node[01-16]`");
  visitor("host_count", natural(finding.host_count), "their number");
  visitor("device", null_if_none(what.device), "null: the whole host");
  visitor("measured", what.measured, "what is so");
  visitor("expected", what.expected, "what should be");
  visitor("expected_by", null_if_none(what.expected_by), "where that expectation comes from; null: none is needed");
  visitor("consequence", what.consequence, "what it does to a job");
  visitor("next", null_if_none(what.next), "what to do, or to run, next");
}

template <typename Visitor, record::Of<PreflightUnseen> Record>
void describe(Visitor& visitor, Record& unseen) {
  using namespace record;
  auto& what = unseen.what;
  visitor.line("preflight_unseen", "What a check of `preflight` could not see");
  visitor("check", unseen.check, "name of the check");
  visitor("hosts", unseen.hosts, "a list such as `node[01-16]`");
  visitor("host_count", natural(unseen.host_count), "their number");
  visitor("required", unseen.is_required, "whether the exit status is 7 because of it");
  visitor("source_count", natural(unseen.source_count), "number of sources of one kind that could not be read");
  visitor("source", null_if_none(what.source), "the first: a file, a command, a variable, a call");
  visitor("reason", what.reason, "why");
}

namespace host {

template <typename Visitor, record::Of<CheckFinding> Record>
void describe(Visitor& visitor, Record& finding) {
  visitor.internal(finding.level, finding.device, finding.measured, finding.expected, finding.expected_by,
                   finding.consequence, finding.next, finding.maybe_by_design, finding.only_between_hosts);
}

template <typename Visitor, record::Of<UnseenSource> Record>
void describe(Visitor& visitor, Record& unseen) {
  visitor.internal(unseen.source, unseen.reason);
}

template <typename Visitor, record::Of<HostFact> Record>
void describe(Visitor& visitor, Record& fact) {
  visitor.internal(fact.key, fact.among, fact.device, fact.value);
}

template <typename Visitor, record::Of<CheckResult> Record>
void describe(Visitor& visitor, Record& result) {
  visitor.internal(result.check, result.outcome, result.findings, result.unseen, result.facts, result.absent);
}

template <typename Visitor, record::Of<HostReport> Record>
void describe(Visitor& visitor, Record& report) {
  visitor.internal(report.host, report.hardware_class, report.results);
}

}  // namespace host
}  // namespace fabricbench
