// The records of pre-flight: what hosts tell rank 0, and what it writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/core/units.h"
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

/// One counter that grew.
struct PreflightEvent {
  std::string counter;
  std::uint64_t grew_by = 0;
};

/// What one NIC of a host did in one interval of a watch.
struct PreflightTraffic {
  std::string host;
  std::string nic;  ///< `eth0`, or `mlx5_0:1`
  Seconds at = 0;   ///< since the begin of the watch
  Seconds took = 0;
  std::uint64_t tx_bytes = 0;
  std::uint64_t rx_bytes = 0;
  std::vector<PreflightEvent> events{};  ///< counters of drops, errors and the like that grew

  [[nodiscard]] double rate(std::uint64_t bytes) const { return took > 0 ? static_cast<double>(bytes) / took : 0; }
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

/// A line of a site's file: a finding that is meant to be so. Empty texts: whatever it is.
struct SiteAccepted {
  std::string check;
  std::string hosts{};  ///< a list such as `node[01-16]`
  std::string device{};
  std::string measured{};
  std::string wanted_by;
};

/// A line of a site's file: a value that hosts should have, instead of that of most hosts.
struct SiteExpected {
  std::string check;
  std::string value_of;  ///< key of what the check compares
  std::string among{};   ///< see host::HostFact
  std::string value;
  std::string hosts{};  ///< empty: all
  std::string wanted_by;
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
  visitor("consequence", null_if_none(what.consequence), "what it does to a job; null: a site's file accepts it");
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

template <typename Visitor, record::Of<PreflightEvent> Record>
void describe(Visitor& visitor, Record& event) {
  using namespace record;
  visitor.part("preflight_event", "A counter of drops, errors, pauses or retransmissions that grew");
  visitor("counter", event.counter, "its name below /sys");
  visitor("grew_by", natural(event.grew_by), "in this interval");
}

template <typename Visitor, record::Of<PreflightTraffic> Record>
void describe(Visitor& visitor, Record& traffic) {
  using namespace record;
  visitor.line("preflight_traffic", "With `--watch`: one NIC in one interval, if it carried bytes or counted events");
  visitor("host", traffic.host, "name of the host");
  visitor("nic", traffic.nic, "`eth0`, or `mlx5_0:1` for a port");
  visitor("at_s", traffic.at, "end of the interval, in seconds since the watch began");
  visitor("interval_s", traffic.took, "its length");
  visitor("sent_bytes", natural(traffic.tx_bytes), "bytes that it sent");
  visitor("received_bytes", natural(traffic.rx_bytes), "bytes that it received");
  visitor("events", traffic.events, "counters that grew");
}

template <typename Visitor, record::Of<SiteAccepted> Record>
void describe(Visitor& visitor, Record& accepted) {
  using namespace record;
  visitor.line("accepted", "In a site's file: a finding of `preflight` that is meant to be so", "site_accepted");
  visitor("check", accepted.check, "name of the check");
  visitor("hosts", left_out_if_none(accepted.hosts), "a list such as `node[01-16]`; missing: all hosts");
  visitor("device", left_out_if_none(accepted.device), "as the finding names it; missing: whatever it is");
  visitor("measured", left_out_if_none(accepted.measured), "as the finding says it; missing: whatever it is");
  visitor("wanted_by", accepted.wanted_by, "who accepted it, when, and why");
}

template <typename Visitor, record::Of<SiteExpected> Record>
void describe(Visitor& visitor, Record& expected) {
  using namespace record;
  visitor.line("expected", "In a site's file: a value that `preflight` expects, instead of that of most hosts",
               "site_expected");
  visitor("check", expected.check, "name of the check");
  visitor("value_of", expected.value_of, "what the check compares; docs/preflight.md lists it");
  visitor("among", left_out_if_none(expected.among), "the board, interface or device that the report has in brackets");
  visitor("value", expected.value, "what it should be; `none`: nothing of the kind");
  visitor("hosts", left_out_if_none(expected.hosts), "a list such as `node[01-16]`; missing: all hosts");
  visitor("wanted_by", expected.wanted_by, "who wants it, since when, and why");
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
