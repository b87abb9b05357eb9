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

template <typename Form, record::Of<AcceptanceStart> Record>
void describe(Form& form, Record& start) {
  using namespace record;
  form.line("acceptance", "The first line of an acceptance run");
  form.derived("schema_version", kSchemaVersion, "readers refuse unknown versions");
  form.derived("fabricbench_version", kVersion, "version of the programs");
  form("began_utc", utc(start.began), "when the run began");
  form("hosts", start.hosts, "all hosts of the run");
  form("held_against", start.held_against, "baseline, preset, expectation, or `each other`");
  form("command", start.command, "the command");
}

template <typename Form, record::Of<AcceptanceStep> Record>
void describe(Form& form, Record& step) {
  using namespace record;
  form.line("acceptance_step", "One step of an acceptance run; a later one of the same name and hosts replaces it");
  form("name", step.name, "such as `hosts/node01`, `pairs` or `collectives/all_reduce_perf-8`");
  form("stage", step.stage, "stage of the run");
  form("hosts", step.hosts, "hosts of the step");
  form("command", null_if_none(step.command), "the command; null: not run");
  form("records", null_if_none(step.records), "its records, relative to the folder; null: none");
  form("outcome", step.outcome, "what became of it");
  form("exit_status", step.exit_status, "exit status of the command; null: not run");
  form("reason", null_if_none(step.reason), "one sentence; null: none");
  form("seconds", step.seconds, "time that it took");
}

template <typename Form, record::Of<HostReason> Record>
void describe(Form& form, Record& host) {
  form.part("host_reason", "A host, and why it is not admitted");
  form("host", host.host, "the host");
  form("reason", host.reason, "one sentence");
}

template <typename Form, record::Of<AcceptanceVerdict> Record>
void describe(Form& form, Record& verdict) {
  using namespace record;
  form.line("acceptance_verdict", "The end of an acceptance run; a later one replaces it");
  form("exit_status", natural(verdict.exit_status), "0 all hosts accepted, 6 something is slow or failed, 7 unknown");
  form("headline", verdict.headline, "one sentence for readers");
  form("admit", verdict.admit, "hosts to admit");
  form("drain", verdict.drain, "hosts to drain");
  form("undecided", verdict.undecided, "hosts that could not be judged");
  form("seconds", verdict.seconds, "time of the whole run");
}

}  // namespace fabricbench::acceptance
