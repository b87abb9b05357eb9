// The kinds of findings: what each is called, what is said of it, and what to do next. kKinds in the source has them
// all.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/readings.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

struct HostLists;

/// Which findings with the same blame are of a kind.
enum class Form : std::uint8_t {
  kAny,
  kOfPath,    ///< between two hosts
  kNoFigure,  ///< without a figure
  kFound,     ///< on groups that were found in the readings
  kOneNic,    ///< one device, by what it is
  kOneGpu,
  kOnePort
};

/// What to do next about a finding: bits of FindingKind::next, in the order of the commands.
enum Next : std::uint8_t {
  kUptime = 1,       ///< does the host answer?
  kSweepAgain = 2,   ///< its hosts with healthy ones, one pair at a time
  kPairAgain = 4,    ///< its two hosts
  kWithHealthy = 8,  ///< its host with one healthy host
  kHostPorts = 16,   ///< state and error counters of the host
  kDevices = 32,
  kSwitches = 64,
  kPing = 128  ///< from one host to the other
};

/// A kind of finding: all that differs from other kinds.
struct FindingKind {
  Blame blame;
  Form form;
  std::string_view tag;    ///< in capitals before the sentence
  std::string_view title;  ///< of its line for scripts, such as `Slow path`; empty: a list of hosts says it
  std::array<std::string_view, 2> nouns;       ///< for one and several: `host`, `hosts`
  std::array<std::string_view, 2> predicates;  ///< `is slow`, `are slow`
  std::vector<std::string> HostLists::*hosts;  ///< the list that its hosts belong to
  std::string (*text)(const Sweep&, const Verdict&, const Finding&);
  int next;  ///< bits of Next
};

/// All kinds in the order of the headline.
[[nodiscard]] std::span<const FindingKind> finding_kinds();
[[nodiscard]] const FindingKind& kind_of(const Sweep& sweep, const Verdict& verdict, const Finding& finding);

/// A rate of so many bytes per second in GB/s, with three digits or more: `12.10`.
[[nodiscard]] std::string gb_per_s(double rate);

/// What is to blame, in one sentence: `node07 is slow with all partners, both ways`.
[[nodiscard]] std::string sentence(const Sweep& sweep, const Verdict& verdict, const Finding& finding);

/// The same of findings of one kind, the worst first: `node[07,12] are slow, sending and receiving`.
[[nodiscard]] std::string sentence(const Sweep& sweep, const Verdict& verdict, std::span<const Finding* const> alike);

/// The sentence on a host that is slow now and then: `node07 was fine until round 9, and slow in every meeting since`.
[[nodiscard]] std::string unsteady_text(const Sweep& sweep, const Verdict& verdict, const Finding& finding);

/// Whether all readings of a finding failed.
[[nodiscard]] bool has_no_figure(const Finding& finding);

/// How bad: `6.05 GB/s where 12.10 are expected: 50 % of it`.
[[nodiscard]] std::string extent(const Finding& finding);
[[nodiscard]] std::string extent(const Sweep& sweep, std::span<const Finding* const> alike);

/// The evidence: `126 readings with 63 partners, 2 of them without a figure`.
[[nodiscard]] std::string evidence(const Finding& finding);

/// A false-alarm probability in words: `fewer than 1 of 1,000 sweeps of healthy hosts look like this`.
[[nodiscard]] std::string chance_in_words(double chance);

/// How sure: `fewer than 1 of 1,000 sweeps of healthy hosts look like this; seen again when measured alone`.
[[nodiscard]] std::string certainty(const Finding& finding);

/// The readings that would settle an open finding; empty: nothing is open.
[[nodiscard]] std::string open_follow_up(const Sweep& sweep, const Verdict& verdict, const Finding& finding);

/// A command that a person may run next, and what for. What comes from records is quoted for the shell.
struct NextCommand {
  std::string command;
  std::string purpose;
};
/// `fine`: hosts to measure the hosts of the finding with. There is no command for names that programs would not accept
/// as hosts, or without a second host to measure with.
[[nodiscard]] std::vector<NextCommand> next_commands(const Sweep& sweep, const Verdict& verdict, const Finding& finding,
                                                     std::span<const std::string> fine);

}  // namespace fabricbench::cluster
