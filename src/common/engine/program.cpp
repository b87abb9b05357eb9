#include "common/engine/program.h"

#include <utility>

#include "common/engine/test_work.h"

namespace fabricbench {

int run_program(const Program& program, Test&& test, Sessions&& sessions, int argc, char** argv) {
  return run(
      program, [&](Job& job) { return agree_on_test(job, test, sessions); }, argc, argv);
}

int run_program(const Program& program, Test&& test, int argc, char** argv) {
  return run_program(program, std::move(test), LibrarySessions(), argc, argv);
}

}  // namespace fabricbench
