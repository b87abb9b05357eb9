// Results as JUnit XML, as test reports of CI systems read it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/report/output_file.h"
#include "common/report/sink.h"

namespace fabricbench {

enum class JunitOutcome {
  kPassed,
  kFailure,
  kError,   ///< what is unknown though it has to be known: it is not ok
  kSkipped  ///< there was nothing to test, or it could not be tested and need not be
};

struct JunitCase {
  std::string name;
  double seconds = 0;
  JunitOutcome outcome = JunitOutcome::kPassed;
  std::string type{};     ///< of the outcome, in one word
  std::string message{};  ///< empty for one that passed
};

/// A <testsuite> called `suite`.
[[nodiscard]] std::string junit_suite(std::string_view suite, const std::vector<JunitCase>& cases);
/// The document of suites.
[[nodiscard]] std::string junit_document(std::string_view name, std::string_view suites);

/// Writes what pre-flight found: a case for each check, a failure where jobs would fail.
class JunitSink final : public Sink {
 public:
  explicit JunitSink(OutputFile output) : output_(std::move(output)) {}

  void begin(const Context& /*context*/) override {}
  void record(const AnyRecord& record) override;
  void end(const Ending& ending) override;
  void abandon(const Ending& ending) override { end(ending); }

 private:
  struct Told {
    std::string failures;
    std::string required;  ///< that was not seen
    std::string others;    ///< that were not seen
  };
  [[nodiscard]] JunitCase case_of(const PreflightCheck& check);

  OutputFile output_;
  std::map<std::string, Told> told_;  // by check
  std::vector<PreflightCheck> checks_;
};

}  // namespace fabricbench
