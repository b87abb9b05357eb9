#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/mpi/communicator.h"

namespace fabricbench {

/// Who takes part: the processes of the job, and those of this process's group, which run an operation together.
/// Without --split there is one group, of all. All groups run the same cases at the same time.
class Team {
 public:
  /// Collective over `world`, which must outlive this. `split`: see parse_split; empty: one group. `process_in_job`:
  /// this one's number in the job where `world` is only a part of it. `reported`: the numbers of groups in reports,
  /// where that is not their place here.
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
  /// The job's numbers of a group's processes, on every process.
  [[nodiscard]] std::vector<int> processes_of(int group) const;
  [[nodiscard]] int group_of(int process) const { return group_of_[static_cast<std::size_t>(process)]; }

  /// What the first process of each group gives, by group; empty on processes other than the job's first.
  /// Collective; what other processes give is not looked at.
  [[nodiscard]] std::vector<std::string> from_each_group(const std::string& text) const;

 private:
  const mpi::Communicator& world_;
  std::optional<mpi::Communicator> group_;
  std::optional<mpi::Communicator> leaders_;  // the first process of each group; nothing on others
  std::vector<int> group_of_;                 // by process
  int process_in_job_;
  int group_number_ = 0;
  int reported_number_ = 0;
  int groups_ = 1;
};

}  // namespace fabricbench
