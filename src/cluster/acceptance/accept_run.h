// An acceptance run: starts its jobs, judges what they leave, and writes the verdict.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/acceptance/accept_options.h"
#include "cluster/acceptance/collectives.h"
#include "cluster/acceptance/job_commands.h"
#include "cluster/acceptance/plan.h"
#include "cluster/acceptance/verdict.h"
#include "cluster/launch/children.h"

namespace fabricbench::acceptance {

/// What is measured from here on is judged and kept.
class AcceptRun {
 public:
  /// `is_new`: nothing was measured before this call.
  AcceptRun(const AcceptOptions& options, const cluster::CalledAs& called, const JobCommands& commands,
            RunFolder& folder, std::filesystem::path scratch, bool is_new, cluster::Clock::time_point began);

  /// Measures what is to be measured, until nothing is left or a signal comes, and writes the verdict, which is printed
  /// in the form that `nagios` asks for. Returns the exit status. `told`: set once that is printed.
  [[nodiscard]] int run(bool nagios, bool& told);

 private:
  struct Interrupted {};
  struct Limit {
    int seconds = 0;
    bool is_cut = false;  ///< --time leaves less than a job may usually take
  };
  /// A sweep that is under way.
  struct RunningSweep {
    PlannedStep step;
    std::string command;
    cluster::Clock::time_point began;
    int status = 0;
    std::size_t told = 0;  // bytes of its messages that were passed on
  };

  void measure();
  void leave_out(const Batch& batch);
  void measure_hosts(const Batch& batch);
  void measure_collective(const PlannedStep& step);
  void measure_pairs(const PlannedStep& step);
  void tell_of_sweep();
  void wait(std::chrono::milliseconds most);
  void refuse_unknown_hosts();

  [[nodiscard]] double seconds_since(cluster::Clock::time_point begin) const;
  [[nodiscard]] Limit limit_of(int usual_s) const;
  void start_job(const PlannedStep& step, const std::string& program, int usual_limit_s);
  void take_job(const PlannedStep& step, const EndedJob& job, const std::string& command, bool is_cut, double seconds);
  void compare_with_baseline(JudgedJob& judged, const EndedJob& job) const;
  void keep_log(const PlannedStep& step, const EndedJob& job, const std::string& command) const;
  void judge_pairs(std::string_view ended_early);
  void tell(const AcceptanceStep& step) const;

  int finish(bool interrupted, bool nagios, bool& told);
  void draw_report();

  const AcceptOptions& options_;
  const cluster::CalledAs& called_;
  const JobCommands& commands_;
  RunFolder& folder_;
  std::filesystem::path scratch_;
  bool is_new_;
  cluster::Clock::time_point began_;
  Plan plan_;
  cluster::Signals signals_;
  cluster::Jobs jobs_{signals_};
  cluster::Clock::time_point deadline_;     // of the stage; read with --time only
  int started_ = 0;                         // jobs
  std::vector<std::string> unknown_hosts_;  // what jobs on hosts without an address have said
  std::optional<RunningSweep> sweep_;
};

}  // namespace fabricbench::acceptance
