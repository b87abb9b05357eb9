// Loaded before the libraries (LD_PRELOAD), makes one call of a program go wrong:
//
//   FAULTY_CALL          FUNCTION:CALL:FAULT[:RANK], such as MPI_Bcast:3:hang:1. The call of this number, counted
//                        from 1 in each process; with RANK, of this rank of the job only, otherwise of all. `new`
//                        stands for operator new, and `exit` for the end of the process. Faults:
//                          hang       it never returns
//                          stop       the whole process is stopped before it
//                          kill       the process is killed before it
//                          late       it begins a second late
//                          fail       nothing is done, and the function's error returned
//                          short      of functions that read or write: at most half is done
//                          interrupt  the launcher gets SIGINT before it, as from Ctrl-C
//                          insist     it gets SIGINT twice
//                          terminate  it gets SIGTERM
//                          freeze     of clock_gettime: the time stands still from this call on
//                          jump       of clock_gettime: the time is a quarter of an hour later from this call on
//   FAULTY_CALL_REACHED  a folder that is made when the call is reached, and another one, with .before_mpi or
//                        .after_mpi behind its name, if MPI is not there yet, or not any more
//   FAULTY_CALL_COUNTS   a file that gets a line for each function at the end of each process: rank, name and calls
//
// Calls of libraries count too, and so do those of the fakes of CUDA and NCCL, which tell of their calls themselves
// (tests/fakes/faulty_call.h). Processes without a rank, such as the launcher, are left alone.

#include "faulty_calls.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <unordered_map>

namespace fabricbench::test {
namespace {

/// What FAULTY_CALL says. Allocates nothing, because operator new is among the functions.
class Chosen {
 public:
  Chosen() {
    const char* const text = std::getenv("FAULTY_CALL");
    const char* const rank = std::getenv("OMPI_COMM_WORLD_RANK");
    if (text == nullptr || rank == nullptr) return;
    std::string_view rest = text;
    std::array<std::string_view, 4> fields;
    for (std::string_view& field : fields) {
      field = rest.substr(0, rest.find(':'));
      rest.remove_prefix(std::min(field.size() + 1, rest.size()));
    }
    if (!fields[3].empty() && fields[3] != rank) return;
    function = fields[0];
    call = std::atol(fields[1].data());
    fault = fields[2];
  }

  std::string_view function;
  long call = 0;
  std::string_view fault;
};

const Chosen& chosen() {
  static const Chosen the_one;
  return the_one;
}

void note_reached() {
  const char* const path = std::getenv("FAULTY_CALL_REACHED");
  if (path == nullptr) return;
  // Folders, because open() is among the functions.
  mkdir(path, 0700);
  int begun = 0;
  int ended = 0;
  PMPI_Initialized(&begun);
  PMPI_Finalized(&ended);
  if (begun != 0 && ended == 0) return;
  std::array<char, 4096> when{};
  std::snprintf(when.data(), when.size(), "%s.%s_mpi", path, begun == 0 ? "before" : "after");
  mkdir(when.data(), 0700);
}

/// The launcher, which is the parent of each rank.
void signal_launcher(int number, int times) {
  for (int time = 0; time < times; ++time) {
    if (time > 0) usleep(200 * 1000);
    kill(getppid(), number);
  }
}

void take_effect(std::string_view fault) {
  while (fault == "hang") pause();
  if (fault == "stop") kill(getpid(), SIGSTOP);
  if (fault == "kill") kill(getpid(), SIGKILL);
  if (fault == "late") usleep(1000 * 1000);
  if (fault == "interrupt") signal_launcher(SIGINT, 1);
  if (fault == "insist") signal_launcher(SIGINT, 2);
  if (fault == "terminate") signal_launcher(SIGTERM, 1);
}

/// The functions of the fakes by name.
Function& of_fakes(const char* name) {
  static std::mutex mutex;
  static auto* const known = new std::unordered_map<std::string_view, Function*>;
  const std::lock_guard lock(mutex);
  const auto [place, is_new] = known->try_emplace(name, nullptr);
  if (is_new) place->second = new Function(name);
  return *place->second;
}

[[gnu::destructor]] void at_end() {
  static Function self("exit");
  Function::write_counts();
  (void)self.fails();
}

}  // namespace

Function::Function(const char* name) : name_(name), is_chosen_(chosen().function == name) {
  next_ = first.load();
  while (!first.compare_exchange_weak(next_, this)) {
  }
}

Effect Function::effect() {
  if (++calls_ != chosen().call || !is_chosen_) return Effect::kNone;
  note_reached();
  const std::string_view fault = chosen().fault;
  take_effect(fault);
  if (fault == "short") return Effect::kShort;
  return fault == "fail" ? Effect::kFails : Effect::kNone;
}

bool Function::past(std::string_view fault) const {
  return is_chosen_ && chosen().fault == fault && calls_ >= chosen().call;
}

void Function::write_counts() {
  const char* const path = std::getenv("FAULTY_CALL_COUNTS");
  const char* const rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (path == nullptr || rank == nullptr) return;
  const int file = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  for (const Function* each = first; each != nullptr; each = each->next_) {
    dprintf(file, "%s %s %ld\n", rank, each->name_, each->calls_.load());
  }
  ::close(file);
}

}  // namespace fabricbench::test

extern "C" {

/// Declared in tests/fakes/faulty_call.h.
int faulty_call_fails(const char* function) { return fabricbench::test::of_fakes(function).fails() ? 1 : 0; }

}  // extern "C"
