#include "common/report/sink.h"

#include <exception>

#include "common/core/error.h"

namespace fabricbench {

void Outputs::end(const Ending& ending) const {
  if (ended_->test_and_set()) return;
  std::exception_ptr problem;
  Ending failed;
  for (const auto& sink : sinks_) {
    try {
      problem ? sink->abandon(failed) : sink->end(ending);
    } catch (const std::exception& error) {
      if (problem) continue;
      problem = std::current_exception();
      failed.exit_status = static_cast<int>(status_of(error));
      failed.reason = error.what();
    }
  }
  if (problem) std::rethrow_exception(problem);
}

void Outputs::abandon(const Ending& ending) const {
  if (ended_->test_and_set()) return;
  std::exception_ptr problem;
  for (const auto& sink : sinks_) {
    try {
      sink->abandon(ending);
    } catch (const std::exception&) {
      if (!problem) problem = std::current_exception();
    }
  }
  if (problem) std::rethrow_exception(problem);
}

}  // namespace fabricbench
