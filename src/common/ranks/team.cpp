#include "common/ranks/team.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "common/core/split.h"
#include "common/host/identity.h"

namespace fabricbench {

ProcessLocation locate_processes(const mpi::Communicator& world) {
  ProcessLocation location;
  location.host = host::host_name();
  location.host_id = std::hash<std::string>{}(location.host + host::boot_id());
  const std::uint64_t own = location.host_id;
  const std::vector<std::uint64_t> hashes = world.all_gather(own);
  location.hosts = static_cast<int>(std::set<std::uint64_t>(hashes.begin(), hashes.end()).size());
  location.local_process = static_cast<int>(std::count(hashes.begin(), hashes.begin() + world.rank(), own));
  location.local_processes = static_cast<int>(std::count(hashes.begin(), hashes.end(), own));
  return location;
}

Team::Team(const mpi::Communicator& world, const std::string& split, std::optional<int> process_in_job,
           const std::vector<int>& reported)
    : world_(world), process_in_job_(process_in_job.value_or(world.rank())) {
  std::map<std::uint64_t, int> numbers;
  for (int process = 0; process < world.size(); ++process) {
    const auto number = static_cast<std::uint64_t>(process);
    const std::uint64_t colour = split.empty() ? 0 : parse_split(split).colour(number);
    group_of_.push_back(numbers.emplace(colour, static_cast<int>(numbers.size())).first->second);
  }
  groups_ = static_cast<int>(numbers.size());
  group_number_ = group_of(world.rank());
  reported_number_ = reported.empty() ? group_number_ : reported[static_cast<std::size_t>(group_number_)];
  group_ = world.split(group_number_);
  leaders_ = world.split(group_->is_root() ? std::optional(0) : std::nullopt);
}

std::vector<int> Team::processes_of(int group) const {
  std::vector<int> processes;
  for (int process = 0; process < world_.size(); ++process) {
    if (group_of(process) == group) processes.push_back(process);
  }
  return processes;
}

std::vector<std::string> Team::from_each_group(const std::string& text) const {
  return leaders_ ? leaders_->gather(text) : std::vector<std::string>();
}

}  // namespace fabricbench
