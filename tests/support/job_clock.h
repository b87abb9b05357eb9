#pragma once

// Time in a job of several ranks as a simulation has it. A program that has job_clock.cpp among its sources makes its
// MPI calls through it: MPI's own, unless a JobClock exists.

#include <functional>

#include "scripted_clock.h"

namespace fabricbench::test {

/// While one exists on every rank, time is a function of what the ranks do, and not of when they get a processor. Each
/// rank's clock moves on by its own readings and pauses. Where it waits for other ranks, it takes over the time of the
/// latest of them (Lamport, 1978), and adds what the call takes: MPI_Barrier, MPI_Ibarrier, MPI_Allreduce and
/// MPI_Allgather end at one time on all ranks, and MPI_Recv not before its MPI_Send began. Other calls take no time,
/// and an MPI_Recv must name the rank that it receives from. One at a time, by one thread.
class JobClock : public ScriptedClock {
 public:
  /// What a reading of the clock, and what a call that waits for others, takes.
  explicit JobClock(Seconds reading = 0, Seconds call = 0);
  JobClock(const JobClock&) = delete;
  JobClock& operator=(const JobClock&) = delete;
  ~JobClock();

  /// Called at the end of each collective call.
  void when_met(std::function<void()> action);
};

}  // namespace fabricbench::test
