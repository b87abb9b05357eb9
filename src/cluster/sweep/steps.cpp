#include "cluster/sweep/steps.h"

namespace fabricbench::sweep {

SchedulePlan plan_of(const Options& options, int endpoints, std::uint64_t seed) {
  return {options.schedule, endpoints, seed, static_cast<int>(options.rounds), static_cast<int>(options.concurrent)};
}

Steps::Steps(const Options& options, int endpoints, std::uint64_t seed)
    : schedule_(plan_of(options, endpoints, seed)), per_round_(options.schedule == ScheduleKind::kShift ? 1 : 2) {}

Step Steps::step(std::int64_t number) const {
  Step step;
  step.number = number;
  step.round = number / per_round_;
  step.back = number % per_round_ == 1;
  step.pings = !step.back;
  step.meetings = schedule_.round(step.round);
  return step;
}

Flows flows_of(const Step& step, int endpoint) {
  Flows flows;
  for (const Meeting& meeting : step.meetings) {
    const int sender = step.back ? meeting.second : meeting.first;
    const int receiver = step.back ? meeting.first : meeting.second;
    if (sender == endpoint) flows.to = receiver;
    if (receiver == endpoint) flows.from = sender;
  }
  return flows;
}

std::vector<Flows> flows_of_all(const Step& step, int endpoints) {
  std::vector<Flows> flows(static_cast<std::size_t>(endpoints));
  for (const Meeting& meeting : step.meetings) {
    const int sender = step.back ? meeting.second : meeting.first;
    const int receiver = step.back ? meeting.first : meeting.second;
    flows[static_cast<std::size_t>(sender)].to = receiver;
    flows[static_cast<std::size_t>(receiver)].from = sender;
  }
  return flows;
}

}  // namespace fabricbench::sweep
