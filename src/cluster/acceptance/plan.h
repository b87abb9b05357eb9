// What to measure next: hosts alone, then pairs, then collectives over 2, 4, ... all hosts that are left.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cluster/acceptance/run_folder.h"
#include "cluster/acceptance/stages.h"

namespace fabricbench::acceptance {

/// What a user has said about the whole run.
struct PlanSettings {
  std::vector<std::string> programs;  ///< collectives
  std::vector<std::string> allowed;   ///< keys of --allow
  double tolerance = 0;
  bool keeps_going = false;
  std::vector<std::string> recheck;  ///< hosts to measure again; none: all are measured
  int time_s = 0;                    ///< for everything; 0: no limit
};

/// A step that is to be measured.
struct PlannedStep {
  std::string name;
  std::string records;  ///< its file in the folder
  std::vector<std::string> hosts;
  std::string program;  ///< of a collective
};

/// Steps of one stage that may run at the same time; or such as are not to be measured; or none.
struct Batch {
  std::optional<Stage> stage;
  std::vector<PlannedStep> steps;
  bool together = true;        ///< else one after the other
  std::optional<int> limit_s;  ///< in which the stage has to end
  std::vector<PlannedStep> left_out;
  std::string reason;  ///< why
};

/// A sweep over pairs that counts, and what it means; none: it could not be judged.
struct Sweep {
  const AcceptanceStep* step = nullptr;
  const PairsVerdict* verdict = nullptr;
};

struct Finding {
  const AcceptanceStep* step = nullptr;
  PathFinding what;
};

/// What the steps so far say of each host, and what is to be measured yet.
class Plan {
 public:
  Plan(RunFolder& folder, PlanSettings settings);

  [[nodiscard]] const RunFolder& folder() const noexcept { return folder_; }
  [[nodiscard]] const PlanSettings& settings() const noexcept { return settings_; }

  /// The next steps. `left_s`: of --time.
  [[nodiscard]] Batch next(double left_s);
  /// Adds a step that is over: measured, or not measured for a reason. `again`: it was the second measurement.
  void add(AcceptanceStep step, bool again = false);
  /// Adds a line for each host about which the comparison of all hosts says something new.
  HostComparison judge_hosts();

  [[nodiscard]] const AcceptanceStep* host_step(const std::string& host) const;
  /// Whether a program ran on it.
  [[nodiscard]] bool is_alive(const std::string& host) const;
  [[nodiscard]] std::string pairs_name() const;
  /// By host, the sweep that decides on it: the last one that it was measured for, or that blames it. The name of a
  /// sweep after a repair has the repaired hosts, and others only serve as peers.
  [[nodiscard]] std::map<std::string, Sweep> deciding_sweeps() const;
  [[nodiscard]] std::vector<Sweep> sweeps() const;
  /// What is slow between hosts, without paths of which both ends were repaired.
  [[nodiscard]] std::vector<Finding> findings() const;
  /// What the verdict in the file of a sweep means; none without one.
  [[nodiscard]] std::optional<PairsVerdict> read_meaning(const AcceptanceStep& sweep) const;
  /// All collectives, in order: each size with each program.
  [[nodiscard]] std::vector<PlannedStep> collectives() const;
  /// The last one, over all hosts, has to be over these hosts; a smaller one over some hosts of their number.
  [[nodiscard]] bool is_measured(const PlannedStep& job, const PlannedStep& last) const;

 private:
  [[nodiscard]] bool is_over(const std::string& name) const { return over_.contains(name); }
  [[nodiscard]] bool passed_alone(const std::string& host) const;
  [[nodiscard]] bool was_measured_again(const AcceptanceStep& step) const;
  [[nodiscard]] const std::vector<std::string>& scope() const;
  [[nodiscard]] std::string file_of(const std::string& host, const std::string& attempt, bool again) const;
  [[nodiscard]] std::string next_attempt(const std::string& host) const;
  [[nodiscard]] std::vector<std::string> hosts_in_pairs() const;
  [[nodiscard]] std::string next_pairs_file() const;
  [[nodiscard]] std::vector<std::string> fit_hosts() const;
  [[nodiscard]] bool can_clear(const PlannedStep& job) const;
  [[nodiscard]] std::string why_stopped() const;
  [[nodiscard]] std::optional<int> time_for(Stage stage, double left_s) const;
  [[nodiscard]] Batch batch_of(Stage stage, std::vector<PlannedStep> steps, std::optional<int> limit_s) const;
  [[nodiscard]] Batch next_hosts(double left_s);
  [[nodiscard]] Batch repeated_hosts(std::optional<int> limit_s) const;
  [[nodiscard]] Batch next_pairs(double left_s) const;
  [[nodiscard]] Batch next_collective(double left_s) const;
  [[nodiscard]] std::vector<PlannedStep> affordable(const std::vector<PlannedStep>& jobs, int limit_s) const;

  RunFolder& folder_;
  PlanSettings settings_;
  std::map<std::string, std::string> files_;  // names of files, by host
  std::set<std::string> over_;                // steps that this process has measured or left out, by name
  std::set<std::string> repeated_;            // steps of hosts that it has measured a second time
  mutable std::map<std::string, std::optional<PairsVerdict>> verdicts_;  // of sweeps, by name
};

}  // namespace fabricbench::acceptance
