// Hosts that were measured alone, beside each other: what they are, and how fast the largest message was.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/acceptance/run_folder.h"

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

}  // namespace fabricbench::acceptance
