// How the ranks of a test program wait for each other: its own sched_yield, which MPI's waits call between two polls
// where OMPI_MCA_mpi_yield_when_idle is set. A process that only yields lets others on the machine run for whole time
// slices, with every message; one that wakes from a sleep is let in at once.

#include <sched.h>
#include <sys/prctl.h>

#include <ctime>

int sched_yield() noexcept {
  constexpr int kPolls = 8;  // between two sleeps: what comes soon is not to wait for a sleep's end
  constexpr timespec kSleep{.tv_sec = 0, .tv_nsec = 50'000};
  constexpr unsigned long kSlackNs = 1000;
  thread_local const int set = prctl(PR_SET_TIMERSLACK, kSlackNs);  // 50 us otherwise
  thread_local int polls = set;
  if (++polls % kPolls == 0) nanosleep(&kSleep, nullptr);
  return 0;
}
