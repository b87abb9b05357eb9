// Findings in words, for people who have to act on them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cluster/readings.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// Names of hosts, given by their places in Sweep::hosts, folded: `node[01-08]`.
[[nodiscard]] std::string hosts_text(const Sweep& sweep, std::span<const std::int32_t> hosts);

/// A rate of so many bytes per second in GB/s, with three digits or more: `12.10`.
[[nodiscard]] std::string gb_per_s(double rate);

/// What is to blame, in one sentence: `node07 is slow with all partners, both ways`.
[[nodiscard]] std::string sentence(const Sweep& sweep, const Verdict& verdict, const Finding& finding);

/// The place of an undecided finding: `between node01 and node02`.
[[nodiscard]] std::string way_text(const Sweep& sweep, const Finding& finding);

/// Whether all readings of a finding failed.
[[nodiscard]] bool has_no_figure(const Finding& finding);

/// How bad: `6.05 GB/s where 12.10 are expected: 50 % of it`.
[[nodiscard]] std::string extent(const Finding& finding);

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
/// as hosts (is_host_name), or without a second host to measure with.
[[nodiscard]] std::vector<NextCommand> next_commands(const Sweep& sweep, const Finding& finding,
                                                     std::span<const std::string> fine);

}  // namespace fabricbench::cluster
