#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/mpi/communicator.h"

namespace fabricbench {

/// The GPUs of a process in a run with several sessions, each of which involves only some of the processes: a rank has
/// the same GPU in all of them.
struct ReservedGpus {
  std::string why_no_nccl;   ///< see gpu::why_no_nccl
  std::vector<int> devices;  ///< CUDA's numbers of the GPUs of this process's ranks; empty: none
};

/// Where the processes run. Collective.
struct ProcessLocation {
  std::string host;           ///< this process's host
  std::uint64_t host_id = 0;  ///< the same for all processes of a host, and for no other
  int hosts = 1;
  int local_process = 0;                        ///< this process's place among those of its host
  int local_processes = 1;                      ///< on this host
  std::optional<ReservedGpus> reserved_gpus{};  ///< empty: a session chooses its own
};
[[nodiscard]] ProcessLocation locate_processes(const mpi::Communicator& world);

/// The processes that take part, and this process's group, which runs an operation together. Without --split all
/// processes form one group. All groups run the same cases at the same time.
class Team {
 public:
  /// Collective over `world`, which must outlive this. `split`: see parse_split; empty: one group. `process_in_job`:
  /// this process's number in the job, if `world` is only a part of it. `reported`: the numbers of the groups in
  /// reports, if they differ from their numbers here.
  Team(const mpi::Communicator& world, const std::string& split, std::optional<int> process_in_job = std::nullopt,
       const std::vector<int>& reported = {});

  [[nodiscard]] const mpi::Communicator& world() const { return world_; }
  [[nodiscard]] const mpi::Communicator& group() const { return *group_; }
  [[nodiscard]] int process_in_job() const { return process_in_job_; }
  /// Groups are numbered from 0 in the order of their first processes.
  [[nodiscard]] int group_number() const { return group_number_; }
  /// The number of this process's group in reports.
  [[nodiscard]] int reported_number() const { return reported_number_; }
  [[nodiscard]] int groups() const { return groups_; }
  /// The numbers in the job of a group's processes; known on every process.
  [[nodiscard]] std::vector<int> processes_of(int group) const;
  [[nodiscard]] int group_of(int process) const { return group_of_[static_cast<std::size_t>(process)]; }

  /// The texts of the first processes of all groups, by group; empty on processes other than the job's first.
  /// Collective; the texts of other processes are ignored.
  [[nodiscard]] std::vector<std::string> from_each_group(const std::string& text) const;

 private:
  const mpi::Communicator& world_;
  std::optional<mpi::Communicator> group_;
  std::optional<mpi::Communicator> leaders_;  // the first process of each group; empty on other processes
  std::vector<int> group_of_;                 // by process
  int process_in_job_;
  int group_number_ = 0;
  int reported_number_ = 0;
  int groups_ = 1;
};

}  // namespace fabricbench
