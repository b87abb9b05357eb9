// Hosts that were measured alone, beside each other: what they are, and how fast the largest message was.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cluster/acceptance/run_folder.h"
#include "cluster/command/verdict_record.h"
#include "cluster/pairs/verdict.h"

namespace fabricbench::acceptance {

/// Something of a host that is compared, and one host's value of it beside that of the others, as a clause: {d} device,
/// {v} value, {n} number of others, {u} theirs.
struct HostKey {
  std::string_view name;
  std::string_view words;
};

inline constexpr std::array kHostKeys = {
    HostKey{"mtu", "{d} has an MTU of {v}, {n} others {u}"},
    HostKey{"nics", "has no {d}, which {n} others have"},
    HostKey{"state", "{d} is {v}, on {n} others {u}"},
    HostKey{"speed", "{d} runs at {v} Mbit/s, on {n} others at {u} Mbit/s"},
    HostKey{"driver", "the driver of {d} is {v}, on {n} others {u}"},
    HostKey{"firmware", "the firmware of {d} is {v}, on {n} others {u}"},
    HostKey{"processor", "its processor is {v}, of {n} others {u}"},
    HostKey{"cores", "{v} processing units, {n} others {u}"},
    HostKey{"memory", "{v} GiB of memory, {n} others {u} GiB"},
    HostKey{"gpus", "its GPUs are {v}, of {n} others {u}"},
    HostKey{"gpu_driver", "its GPU driver is {v}, of {n} others {u}"},
};
/// Differs during every update, and is only told.
inline constexpr HostKey kNotedOnly = {"kernel", "kernel {v}, {n} others {u}"};

/// Whether an interface belongs to containers or virtual machines, which come and go, or is the loopback.
[[nodiscard]] bool is_no_nic(std::string_view interface);

/// All hosts that ran alone, beside each other.
class HostComparison {
 public:
  /// `allowed`: keys of differences that are only told.
  HostComparison(const RunFolder& folder, const std::vector<std::string>& allowed, double tolerance);

  /// What is to be said of a host that ran; none: it is like the others.
  [[nodiscard]] std::optional<Judged> judge(const std::string& host, bool is_judged_by_baseline) const;

  /// What two thirds of the hosts do not have in common.
  [[nodiscard]] const std::vector<std::string>& split() const noexcept { return split_; }
  /// What is only told.
  [[nodiscard]] const std::vector<std::string>& noted() const noexcept { return noted_; }

 private:
  std::map<std::string, Judged> same_machine_;
  std::map<std::string, std::string> odd_;  // clauses, by host
  std::map<std::string, Judged> slow_;
  std::vector<std::string> split_;
  std::vector<std::string> noted_;
};

// What the verdict on the pairs means for an acceptance run.

/// Hosts with a reason each, in the order in which they were added; the first reason counts.
class Reasons {
 public:
  void add(const std::string& host, std::string reason);
  /// Null: there is none.
  [[nodiscard]] const std::string* find(const std::string& host) const;
  [[nodiscard]] const std::vector<HostReason>& all() const noexcept { return all_; }
  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }

 private:
  std::vector<HostReason> all_;
  std::unordered_map<std::string, std::size_t> places_;
};

/// Something slow that no host explains.
struct PathFinding {
  std::vector<std::string> hosts;  ///< none: it is about leaves or rails
  std::string in_short;
  std::string text;
};

struct PairsVerdict {
  Reasons drained;
  Reasons undecided;
  std::set<std::string> fine;
  std::vector<PathFinding> findings;
  std::vector<std::string> open;  ///< what the readings leave open
};

/// `groups_are_meant`: whether hosts may be in groups with slower paths between them.
[[nodiscard]] PairsVerdict meaning_of(const cluster::VerdictRecord& verdict, double tolerance, bool groups_are_meant);

/// Judges the readings in a file, and writes the verdict to another one.
struct JudgedReadings {
  int status = 0;    ///< as of find_slow_links
  std::string said;  ///< its messages, in one line
};
[[nodiscard]] JudgedReadings judge_readings(const std::filesystem::path& records, const std::filesystem::path& verdict,
                                            const cluster::VerdictSettings& settings);

/// The verdict in a file; none without one.
[[nodiscard]] std::optional<cluster::VerdictRecord> read_verdict(const std::filesystem::path& file);

// Judges jobs of programs: how they ended, whether their figures are whole, and which network devices carried their
// data.

/// A job that has ended.
struct EndedJob {
  std::string program;
  std::vector<std::string> hosts;
  int status = 0;
  int limit_s = 0;
  std::string output;
  std::string errors;
};

/// How it ended, what its rows say, and the lines of its records to keep.
struct JudgedJob {
  Judged judged;
  std::string kept;
};
[[nodiscard]] JudgedJob judge_job(const EndedJob& job);

/// Hosts whose data went over other network devices than those of most others, by host; and a difference of which no
/// host is the exception.
struct UnusualNics {
  std::map<std::string, std::string> of_hosts;
  std::string split;
};
/// By all collectives between hosts.
[[nodiscard]] UnusualNics unusual_nics(const RunFolder& folder);

}  // namespace fabricbench::acceptance
