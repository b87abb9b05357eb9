// The records of an acceptance run, acceptance.jsonl in its folder.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "common/core/names.h"
#include "common/core/version.h"
#include "common/record/field.h"

namespace fabricbench::acceptance {

enum class Stage { kHosts, kPairs, kCollectives };
constexpr auto names_of(Stage) { return std::to_array<std::string_view>({"hosts", "pairs", "collectives"}); }

enum class Outcome {
  kAccepted,
  kSlow,
  kFailed,
  kNotJudged,   ///< measured, and there is nothing to hold it against, or too little
  kNotMeasured  ///< no time was left, or an earlier stage ended the run
};
constexpr auto names_of(Outcome) {
  return std::to_array<std::string_view>({"accepted", "slow", "failed", "not_judged", "not_measured"});
}

struct AcceptanceStart {
  std::time_t began = 0;
  std::vector<std::string> hosts;
  std::string held_against;
  std::string command;
};

struct AcceptanceStep {
  std::string name;
  Stage stage = Stage::kHosts;
  std::vector<std::string> hosts;
  std::string command;
  std::string records;
  Outcome outcome = Outcome::kNotMeasured;
  std::optional<std::int64_t> exit_status;
  std::string reason;
  double seconds = 0;
};

struct HostReason {
  std::string host;
  std::string reason;
};

struct AcceptanceVerdict {
  int exit_status = 0;
  std::string headline;
  std::vector<std::string> admit;
  std::vector<HostReason> drain;
  std::vector<HostReason> undecided;
  double seconds = 0;
};

template <typename Visitor, record::Of<AcceptanceStart> Record>
void describe(Visitor& visitor, Record& start) {
  using namespace record;
  visitor.line("acceptance", "The first line of an acceptance run");
  visitor.derived("schema_version", kSchemaVersion, "readers refuse unknown versions");
  visitor.derived("fabricbench_version", kVersion, "version of the programs");
  visitor("began_utc", utc(start.began), "when the run began");
  visitor("hosts", start.hosts, "all hosts of the run");
  visitor("held_against", start.held_against, "baseline, preset, expectation, or `each other`");
  visitor("command", start.command, "the command");
}

template <typename Visitor, record::Of<AcceptanceStep> Record>
void describe(Visitor& visitor, Record& step) {
  using namespace record;
  visitor.line("acceptance_step", "One step of an acceptance run; a later one of the same name and hosts replaces it");
  visitor("name", step.name, "such as `hosts/node01`, `pairs` or `collectives/all_reduce_perf-8`");
  visitor("stage", step.stage, "stage of the run");
  visitor("hosts", step.hosts, "hosts of the step");
  visitor("command", null_if_none(step.command), "the command; null: not run");
  visitor("records", null_if_none(step.records), "its records, relative to the folder; null: none");
  visitor("outcome", step.outcome, "what became of it");
  visitor("exit_status", step.exit_status, "exit status of the command; null: not run");
  visitor("reason", null_if_none(step.reason), "one sentence; null: none");
  visitor("seconds", step.seconds, "time that it took");
}

template <typename Visitor, record::Of<HostReason> Record>
void describe(Visitor& visitor, Record& host) {
  visitor.part("host_reason", "A host, and why it is not admitted");
  visitor("host", host.host, "the host");
  visitor("reason", host.reason, "one sentence");
}

template <typename Visitor, record::Of<AcceptanceVerdict> Record>
void describe(Visitor& visitor, Record& verdict) {
  using namespace record;
  visitor.line("acceptance_verdict", "The end of an acceptance run; a later one replaces it");
  visitor("exit_status", natural(verdict.exit_status),
          "0 all hosts accepted, 6 something is slow or failed, 7 unknown");
  visitor("headline", verdict.headline, "one sentence for readers");
  visitor("admit", verdict.admit, "hosts to admit");
  visitor("drain", verdict.drain, "hosts to drain");
  visitor("undecided", verdict.undecided, "hosts that could not be judged");
  visitor("seconds", verdict.seconds, "time of the whole run");
}

}  // namespace fabricbench::acceptance
