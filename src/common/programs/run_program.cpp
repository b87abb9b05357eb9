#include "common/programs/run_program.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "cluster/run/baseline_sink.h"
#include "cluster/run/expectation.h"
#include "common/engine/case_list.h"
#include "common/engine/engine.h"
#include "common/engine/test_work.h"

namespace fabricbench {

namespace {

/// The program accepts options that its test has no use for, as nccl-tests' programs do, and --help leaves them out.
Program with_used_options_listed(Program program, const TestTraits& traits) {
  for (const UnusedOptions& unused : unused_options(traits)) {
    for (Option& option : program.options) {
      if (std::find(unused.keys.begin(), unused.keys.end(), option.key()) != unused.keys.end()) option.listed = false;
    }
  }
  return program;
}

}  // namespace

int run_program(const Program& program, Test&& test, Sessions&& sessions, int argc, char** argv) {
  return run(
      with_used_options_listed(program, test.traits()), [&](Job& job) { return agree_on_test(job, test, sessions); },
      make_judges, argc, argv);
}

int run_program(const Program& program, Test&& test, int argc, char** argv) {
  return run_program(program, std::move(test), LibrarySessions(), argc, argv);
}

std::vector<std::unique_ptr<Sink>> make_judges(RowKind row_kind, const Options& options) {
  std::vector<std::unique_ptr<Sink>> judges;
  if (!options.record_file.empty() || !options.baseline_file.empty()) {
    judges.push_back(std::make_unique<baseline::BaselineSink>(options));
  }
  if (row_kind == RowKind::kCollective || is_of_pairs(row_kind)) {
    judges.push_back(std::make_unique<expected::ExpectationSink>(options));
  }
  return judges;
}

}  // namespace fabricbench
