#include "common/backends/rdma_cm/batch_step.h"

#include <fmt/format.h>

#include "common/backends/rdma_cm/steps.h"
#include "common/core/error.h"

namespace fabricbench::rdma_cm {

BatchStep::BatchStep(ConnectStep step, const Batch& batch, const SideSettings& settings)
    : step_(step),
      batch_(batch),
      settings_(settings),
      states_(batch.count, State::kWaits),
      starts_(batch.count, settings.clock()),
      waiting_(batch.count),
      began_(settings.clock()),
      ended_(began_) {}

void BatchStep::start(std::size_t link, const std::function<void()>& act) {
  starts_[link] = settings_.clock();
  attempt(link, act);
}

void BatchStep::attempt(std::size_t link, const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    fail(link, error.status(), error.what());
  }
}

void BatchStep::finish(std::size_t link) {
  if (!waits(link)) return;
  end_wait(link, State::kDone);
  times_.push_back(ended_ - starts_[link]);
}

void BatchStep::fail(std::size_t link, ExitStatus status, const std::string& why) {
  if (states_[link] == State::kFailed) return;
  end_wait(link, State::kFailed);
  if (failed_++ > 0) return;
  problem_ = {status, fmt::format("connection {}: {}", batch_.first + link, in_step(step_, settings_.peer, why))};
}

void BatchStep::fail_waiting(ExitStatus status, const std::string& why) {
  for (std::size_t link = 0; link < batch_.count; ++link) {
    if (waits(link)) fail(link, status, why);
  }
}

void BatchStep::end_wait(std::size_t link, State state) {
  if (waits(link)) --waiting_;
  states_[link] = state;
  ended_ = settings_.clock();
}

void BatchStep::raise() const {
  if (failed_ == 0) return;
  std::string text = problem_.text;
  if (failed_ > 1) {
    text += fmt::format("; {} of the {} connections made at the same time failed in this step", failed_, batch_.count);
  }
  throw Error(problem_.status, text);
}

}  // namespace fabricbench::rdma_cm
