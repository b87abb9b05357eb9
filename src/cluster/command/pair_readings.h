// What a job over a pair of hosts has measured, and why it has not.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/command/pair_job.h"
#include "cluster/launch/children.h"
#include "common/core/units.h"
#include "common/record/reading.h"

namespace fabricbench::cluster {

/// A direction that a job measures. Hosts are places in PairJob::hosts.
struct PairDirection {
  int sender = 0;
  int receiver = 1;
  std::string rail;
  bool both_ways = false;  ///< the figure is the sum of both directions
};

/// The known devices at one end; empty: unknown.
struct DevicesOfEnd {
  std::string gpu;
  std::string gpu_uuid;
  std::string nic;
  std::string nic_guid;
  std::optional<double> port_rate;
};

struct PairFigure {
  PairDirection direction;
  ReadingStatus status = ReadingStatus::kOk;
  std::optional<double> bandwidth{};  ///< bytes per second
  std::optional<Seconds> latency{};
  std::string reason{};
  std::optional<std::int64_t> size{};
  std::array<DevicesOfEnd, 2> devices{};  ///< of sender and receiver
  double waited = 0;                      ///< share of the time for which ranks waited for a processor
};

/// Whether several RDMA devices were measured one after the other, so that one may have kept others from their turn.
[[nodiscard]] bool shares_job(const PairSettings& settings, const PairJob& job);

/// What a job has printed.
struct PairOutput {
  std::string out;
  std::string err;
};

/// All readings of a job that ended with this status: the ones that it printed, and failed ones with the reason for the
/// rest. By rail and sender.
[[nodiscard]] std::vector<PairFigure> judge_pair(const PairSettings& settings, const PairJob& job, int status,
                                                 const PairOutput& output);

/// Adds the readings of a job that has ended to the records, keeps its output if it failed, and prints a line. `folder`
/// has its output in `out` and `err`. A job whose options the benchmark has refused leaves no record: every pair would
/// end like this.
PairEnd finish_pair(const PairSettings& settings, const PairJob& job, const JobEnd& end,
                    const std::filesystem::path& folder);

/// Appends whole lines in one write; safe with concurrent writers, also on file systems without atomic O_APPEND.
/// Removes the half of a record that a writer has left at the end, ends any other line there, and says so. Throws Error
/// (kFailure).
void append_to_file(const std::string& path, std::string_view lines);

/// The time, in UTC, ISO 8601.
[[nodiscard]] std::string utc_now();

}  // namespace fabricbench::cluster
