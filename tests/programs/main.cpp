// Every program of the suite in one, as the tests run them: on a clock, an MPI and a host that can be told to
// misbehave.
//
//   all_reduce_perf -b 8      under the name of a program (a symbolic link), it is that program
//   programs --serve ADDRESS  under its own, each rank of the job runs one program after the other, as it is told by
//                             what listens at ADDRESS (tests/cli/resident.py): starting a job takes longer than most
//                             runs
//
// A name may end in _cuda_aware: then MPI says that it is that.

#include <cstdio>
#include <string>
#include <string_view>

#include "run.h"
#include "serve.h"

namespace fabricbench::test {
namespace {

int run_program(std::string_view path, int argc, char** argv) {
  constexpr std::string_view kCudaAware = "_cuda_aware";
  std::string_view name = path.substr(path.rfind('/') + 1);
  const bool cuda_aware = name.ends_with(kCudaAware);
  if (cuda_aware) name.remove_suffix(kCudaAware.size());
  for (const Program& program : programs()) {
    if (program.name != name) continue;
    start_clock();
    forget_calls();
    be_cuda_aware(cuda_aware);
    return program.run(argc, argv);
  }
  std::fprintf(stderr, "%s: not a program of the suite, and not '--serve ADDRESS'\n", std::string(path).c_str());
  return 2;
}

}  // namespace
}  // namespace fabricbench::test

int main(int argc, char** argv) {
  using namespace fabricbench::test;
  if (argc == 3 && argv[1] == std::string_view("--serve")) return serve(argv[2], run_program);
  return run_program(argv[0], argc, argv);
}
