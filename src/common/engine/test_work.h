#pragma once

#include <cstdint>
#include <memory>

#include "common/engine/engine.h"
#include "common/engine/prepared_run.h"

namespace fabricbench {

/// A test that is set up once, on all processes that take part.
class TestWork : public Work {
 public:
  /// `test` and `sessions` must outlive it.
  TestWork(Job& job, ActiveProcesses active, Test& test, const Sessions& sessions)
      : Work(job, std::move(active)), test_(test), sessions_(sessions) {}

  void set_up(Outputs& outputs) final;
  [[nodiscard]] Context make_context() override;
  [[nodiscard]] Ending measure(const Context& context) final;

 protected:
  [[nodiscard]] const Setup& setup() const { return setup_; }

 private:
  /// The part of `measure` that differs: it has everything set up, and returns the ending.
  [[nodiscard]] virtual Ending visit(Run& run) = 0;
  /// How often `visit` measures all cases, one time after the other.
  [[nodiscard]] virtual std::int64_t steps() const { return 1; }

  Test& test_;
  const Sessions& sessions_;
  Setup setup_;
  std::unique_ptr<PreparedRun> prepared_;
};

/// Chooses the ranks that take part in a test, and whether its pairs are measured at the same time or in rounds.
/// Collective over the job. Throws Error, the same on every process. `test` and `sessions` must outlive the result.
[[nodiscard]] std::unique_ptr<Work> agree_on_test(Job& job, Test& test, Sessions& sessions);

}  // namespace fabricbench
